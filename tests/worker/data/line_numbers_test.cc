#include "worker/data/line_numbers.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/harness/fake_file_system.h"

namespace shoal {
namespace {

TEST(LineNumbersTest, CountsFromTheNearestPlaceInAnyOrder) {
  FakeFileSystem files;
  files.AddFile("/d/a", "one\n\nthree\nfour");
  LineNumbers lines(&files);
  EXPECT_EQ(lines.LineAt("/d/a", 5), 3u);
  EXPECT_EQ(lines.LineAt("/d/a", 11), 4u);
  EXPECT_EQ(lines.LineAt("/d/a", 4), 2u);
  EXPECT_EQ(lines.LineAt("/d/a", 0), 1u);
  EXPECT_EQ(lines.LineAt("/d/a", 5), 3u) << "again";
}

TEST(LineNumbersTest, ReadsAFileOnceIfItsPlacesComeInTheirOrder) {
  FakeFileSystem files;
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "row\n";
  files.AddFile("/d/a", text);
  LineNumbers lines(&files, {.max_bytes = text.size()});
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(lines.LineAt("/d/a", 4 * i), static_cast<uint64_t>(i + 1));
  }
  EXPECT_EQ(lines.LineAt("/d/a", 400), 101u) << "remembered";
}

TEST(LineNumbersTest, GivesUpBeyondTheLimitAndWhereThereIsNoFile) {
  FakeFileSystem files;
  files.AddFile("/d/a", std::string(100, '\n'));
  LineNumbers lines(&files, {.max_bytes = 50});
  EXPECT_EQ(lines.LineAt("/d/a", 51), std::nullopt);
  EXPECT_EQ(lines.LineAt("/d/a", 30), 31u);
  EXPECT_EQ(lines.LineAt("/d/a", 51), std::nullopt);
  EXPECT_EQ(lines.LineAt("/d/a", 50), 51u);
  EXPECT_EQ(lines.LineAt("/d/none", 1), std::nullopt);
}

}  // namespace
}  // namespace shoal
