#include "job/job_id_growth.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "launch/job_flag_set.h"
#include "tests/harness/fake_file_system.h"

namespace shoal {
namespace {

// Rows with one id that all rows share, and one of their own.
std::string Rows(int from, int count) {
  std::string text;
  for (int i = from; i < from + count; ++i) {
    absl::StrAppend(&text, "1 0:1 ", i + 1, ":1\n");
  }
  return text;
}

JobFlags Flags(const std::string& feature_size) {
  JobFlags flags(Command::kTrain);
  FlagSet set = JobFlagSet(&flags);
  EXPECT_TRUE(set.ReadArguments({"--training_data_dir=/data",
                                 "--feature_size=" + feature_size,
                                 "--field_size=2"})
                  .ok());
  EXPECT_TRUE(flags.Validate().ok());
  return flags;
}

TEST(JobIdGrowthTest, CountsTheFilesThatTheJobTrainsOn) {
  FakeFileSystem files;
  files.AddFile("/data/tr.a", Rows(0, 20));
  files.AddFile("/data/tr.b", Rows(20, 20));
  const auto points = MeasureJobIdGrowth(files, Flags("1000"), 10, 8);
  ASSERT_TRUE(points.ok()) << points.status();
  ASSERT_EQ(points->size(), 2u);  // 4 batches, so groups of up to 2
  EXPECT_EQ((*points)[0].ids, 11);
  EXPECT_EQ((*points)[1].ids, 21);
}

TEST(JobIdGrowthTest, RowsThatTheJobSkipsAreNotCounted) {
  FakeFileSystem files;
  files.AddFile("/data/tr.a", Rows(0, 20));
  const auto points = MeasureJobIdGrowth(files, Flags("11"), 10, 8);
  ASSERT_TRUE(points.ok()) << points.status();
  ASSERT_EQ(points->size(), 1u);  // ids up to 10 are good: one whole batch
  EXPECT_EQ((*points)[0].ids, 11);
}

TEST(JobIdGrowthTest, NoMoreThanTwiceTheMostBatchesAreRead) {
  FakeFileSystem files;
  // The ids of the first 4 batches are few, those after them are many.
  std::string text;
  for (int i = 0; i < 40; ++i) absl::StrAppend(&text, "1 0:1 1:1\n");
  files.AddFile("/data/tr.a", text + Rows(0, 400));
  const auto points = MeasureJobIdGrowth(files, Flags("1000"), 10, 2);
  ASSERT_TRUE(points.ok()) << points.status();
  EXPECT_EQ((*points)[0].ids, 2);
}

TEST(JobIdGrowthTest, DataThatAreNotThereAreNamed) {
  FakeFileSystem files;
  EXPECT_THAT(
      std::string(
          MeasureJobIdGrowth(files, Flags("10"), 10, 2).status().message()),
      ::testing::HasSubstr("/data"));
}

}  // namespace
}  // namespace shoal
