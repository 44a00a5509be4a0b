#include "bench/compare/pause_file.h"

#include <stdlib.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/file_system.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

std::string Text() {
  PausePair pair;
  pair.kind.settings = "version=1\nA: seed=1";
  pair.kind.servers = true;
  pair.kind.cores = 2;
  pair.kind.dilation = 8 / 1.8;
  pair.ended = absl::FromUnixSeconds(1'800'000'000);
  pair.unpaused = 40e-6;
  pair.paused = 50e-6;
  PausePair other = pair;
  other.kind.settings = "version=1\nB: seed=1";
  other.kind.copies = true;
  return PauseFileJson({pair, other});
}

TEST(PauseFileTest, GivesBackThePairs) {
  const auto pairs = ParsePauseFile(Text());
  ASSERT_TRUE(pairs.ok()) << pairs.status();
  ASSERT_EQ(pairs->size(), 2u);
  const PauseKind kind = {"version=1\nA: seed=1", true, false, 2, 8 / 1.8};
  EXPECT_TRUE(pairs->at(0).kind == kind);
  EXPECT_EQ(pairs->at(0).ended, absl::FromUnixSeconds(1'800'000'000));
  EXPECT_EQ(pairs->at(0).unpaused, 40e-6);
  EXPECT_EQ(pairs->at(0).paused, 50e-6);
  EXPECT_TRUE(pairs->at(1).kind.copies);
  EXPECT_EQ(PauseFileJson(*pairs), Text());
}

TEST(PauseFileTest, SaysWhatIsWrongAndWhere) {
  const auto error = [](const std::string& was, const std::string& is) {
    const std::string text = absl::StrReplaceAll(Text(), {{was, is}});
    return std::string(ParsePauseFile(text).status().message());
  };
  EXPECT_THAT(error("\"format\": 1", "\"format\": 2"),
              HasSubstr("format: is 2, and this version reads 1"));
  EXPECT_THAT(error("2027-", "tomorrow-"),
              HasSubstr("pairs[0].ended: is not a time such as"));
  EXPECT_THAT(error("5e-05", "0"),
              HasSubstr("pairs[0].paused_cpu_seconds_per_sample: "));
  EXPECT_THAT(error("\"dilation\"", "\"t\""), HasSubstr("pairs[0].dilation: "));
  EXPECT_THAT(error("5e-05", "1e300"),
              HasSubstr("pairs[0]: says that pauses made a host over a hundred "
                        "times slower"));
}

TEST(PauseFileTest, IsReadFromADirectory) {
  const std::unique_ptr<FileSystem> files = NewPosixFileSystem();
  std::string path = absl::StrCat(::testing::TempDir(), "/pauses-XXXXXX");
  ASSERT_NE(mkdtemp(path.data()), nullptr);
  path += "/pauses.json";
  EXPECT_TRUE(absl::IsNotFound(ReadPauseFile(*files, path).status()));
  ASSERT_TRUE(files->WriteFileAtomically(path, Text()).ok());
  EXPECT_EQ(ReadPauseFile(*files, path)->size(), 2u);
  ASSERT_TRUE(files->WriteFileAtomically(path, Text().substr(0, 99)).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(ReadPauseFile(*files, path).status()));
}

}  // namespace
}  // namespace shoal
