#include "datatools/id_growth.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/fake_file_system.h"

namespace shoal {
namespace {

// Rows of two features: one that all rows share, and one of its own.
std::string Rows(int from, int count) {
  std::string text;
  for (int i = from; i < from + count; ++i) {
    absl::StrAppend(&text, "1 0:1 ", i + 1, ":1\n");
  }
  return text;
}

IdGrowthOptions Options(uint32_t batch_size) {
  IdGrowthOptions options;
  options.batch_size = batch_size;
  return options;
}

TEST(IdGrowthTest, DistinctIdsOfOneTwoAndFourBatches) {
  FakeFileSystem files;
  files.AddFile("/a", Rows(0, 43));
  files.AddFile("/b", Rows(100, 40));
  const auto points = MeasureIdGrowth(files, {"/a", "/b"}, Options(10));
  ASSERT_TRUE(points.ok()) << points.status();
  ASSERT_EQ(points->size(), 3u);  // 8 whole batches, so groups of up to 4
  EXPECT_EQ((*points)[0].batches, 1u);
  EXPECT_EQ((*points)[0].ids, 11);
  EXPECT_EQ((*points)[1].batches, 2u);
  EXPECT_EQ((*points)[1].ids, 21);
  EXPECT_EQ((*points)[2].ids, 41);
}

TEST(IdGrowthTest, NoMoreThanTheMostBatchesAreRead) {
  FakeFileSystem files;
  files.AddFile("/a", Rows(0, 100));
  IdGrowthOptions options = Options(10);
  options.most_batches = 2;
  const auto points = MeasureIdGrowth(files, {"/a"}, options);
  ASSERT_TRUE(points.ok());
  EXPECT_EQ(points->size(), 2u);
}

TEST(IdGrowthTest, LabelsDoNotMatter) {
  FakeFileSystem files;
  files.AddFile("/a", "7 1:1\n-1 2:1\n0.5 3:1\n1 4:1\n");
  const auto points = MeasureIdGrowth(files, {"/a"}, Options(4));
  ASSERT_TRUE(points.ok()) << points.status();
  EXPECT_EQ((*points)[0].ids, 4);
}

TEST(IdGrowthTest, TooFewRowsAreNamed) {
  FakeFileSystem files;
  files.AddFile("/a", Rows(0, 5));
  const auto points = MeasureIdGrowth(files, {"/a"}, Options(10));
  EXPECT_THAT(std::string(points.status().message()),
              ::testing::HasSubstr("whole batch of 10 rows"));
  EXPECT_EQ(MeasureIdGrowth(files, {"/none"}, Options(1)).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace shoal
