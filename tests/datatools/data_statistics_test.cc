#include "datatools/data_statistics.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/philox.h"
#include "base/record_framing.h"
#include "datatools/id_counts.h"
#include "datatools/tfrecord_writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/fake_file_system.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<DataStatistics> Collect(
    const FakeFileSystem& files, const DataStatisticsOptions& options = {}) {
  return CollectDataStatistics(&files, "/d", options,
                               [](const DataStatisticsProgress&) {});
}

TEST(IdCountsTest, CountsExactlyUpToItsLimit) {
  IdCounts ids(100);
  for (int round = 0; round < 3; ++round) {
    for (FeatureId id = 1000; id < 1100; ++id) ids.Add(id);
  }
  for (int i = 0; i < 700; ++i) ids.Add(1000);
  EXPECT_TRUE(ids.exact());
  EXPECT_EQ(ids.distinct(), 100u);
  EXPECT_EQ(ids.TopShare(0.01), 0.703);  // the one id of 703 of 1,000
  EXPECT_EQ(ids.TopShare(0.02), 0.706);
  EXPECT_EQ(ids.TopShare(0), 0.703);
  EXPECT_EQ(ids.TopShare(1), 1);
}

TEST(IdCountsTest, EstimatesBeyondItsLimit) {
  for (const uint64_t distinct : {101ull, 5000ull, 300000ull}) {
    IdCounts ids(100);
    for (FeatureId id = 0; id < distinct; ++id) {
      ids.Add(id);
      ids.Add(id);
    }
    EXPECT_FALSE(ids.exact());
    EXPECT_EQ(ids.TopShare(0.01), std::nullopt);
    // A standard error is .12 of it.
    EXPECT_GT(ids.distinct(), 0.6 * distinct);
    EXPECT_LT(ids.distinct(), 1.4 * distinct);
  }
}

TEST(IdCountsTest, NoIdHasNoShare) {
  EXPECT_EQ(IdCounts(1).TopShare(0.01), std::nullopt);
  EXPECT_EQ(IdCounts(1).distinct(), 0u);
}

TEST(DataStatisticsTest, CountsRowsWithoutALabelInEveryFormat) {
  FakeFileSystem files;
  const std::string tabs(39, '\t');
  std::string record;
  AppendTfExample(std::nullopt, std::vector<FeatureId>{5},
                  std::vector<float>{1}, &record);
  files.AddFile("/d/a", "1 7:0.5\n7:0.5 8:1\n7 9:1\n7:x\n");
  files.AddFile("/d/b", "0:7:0.5\n1 0:7:0.5\n");
  files.AddFile("/d/c", tabs + "\n" + tabs.substr(1) + "\n1" + tabs + "\n");
  std::string framed;
  AppendRecord(record, &framed);
  files.AddFile("/d/d", framed);
  const auto data = Collect(files);
  ASSERT_TRUE(data.ok()) << data.status();
  const RowStatistics& a = data->files[0].rows;
  EXPECT_EQ(a.rows, 2u);
  EXPECT_EQ(a.unlabelled, 1u);
  EXPECT_EQ(a.bad_rows, 2u) << "a label of 7 is none of the model's";
  EXPECT_EQ(a.ones, 1u);
  EXPECT_EQ(a.max_id, 8u);
  EXPECT_THAT(a.first_bad, HasSubstr("/d/a:3: label '7' is not one of"));
  EXPECT_EQ(data->files[1].rows.unlabelled, 1u);
  EXPECT_EQ(data->files[1].rows.rows, 2u);
  EXPECT_EQ(data->files[2].rows.unlabelled, 2u);
  EXPECT_EQ(data->files[2].rows.rows, 3u);
  EXPECT_EQ(data->files[3].rows.unlabelled, 1u);
  EXPECT_EQ(data->files[3].rows.rows, 1u);
  EXPECT_EQ(data->all.unlabelled, 5u);
}

TEST(DataStatisticsTest, CountsWhatFilesHold) {
  FakeFileSystem files;
  files.AddFile("/d/a", "1 7:0.5 3:1\n0 7:-2\n\n1 9:1 10:1 11:1\nx\n2 1:1\n");
  files.AddFile("/d/b", "# nothing but a comment\n");
  files.AddFile("/d/c", "0 99:4 7:1\n");
  const auto data = Collect(files);
  ASSERT_TRUE(data.ok()) << data.status();
  ASSERT_EQ(data->files.size(), 3u);
  const RowStatistics& a = data->files[0].rows;
  EXPECT_EQ(a.rows, 3u);
  EXPECT_EQ(a.ones, 2u);
  EXPECT_EQ(a.bad_rows, 2u);
  EXPECT_THAT(a.first_bad, HasSubstr("/d/a:5: label 'x'"));
  EXPECT_EQ(a.features, 6u);
  EXPECT_EQ(a.min_features, 1u);
  EXPECT_EQ(a.max_features, 3u);
  EXPECT_EQ(a.min_id, 3u);
  EXPECT_EQ(a.max_id, 11u);
  EXPECT_EQ(a.min_value, -2);
  EXPECT_EQ(a.max_value, 1);
  EXPECT_EQ(data->files[1].rows.rows, 0u);
  EXPECT_TRUE(data->files[1].status.ok());
  EXPECT_EQ(data->all.rows, 4u);
  EXPECT_EQ(data->all.ones, 2u);
  EXPECT_EQ(data->all.min_id, 3u);
  EXPECT_EQ(data->all.max_id, 99u);
  EXPECT_EQ(data->all.min_features, 1u);
  EXPECT_EQ(data->all.max_value, 4);
  EXPECT_EQ(data->distinct_ids, 6u);
  EXPECT_EQ(data->top_share, 3.0 / 8);  // 7 is three of eight
  EXPECT_EQ(data->feature_size, 100u);
  EXPECT_EQ(data->field_size, 3);
  EXPECT_EQ(data->bytes,
            data->files[0].bytes + data->files[1].bytes + data->files[2].bytes);
}

TEST(DataStatisticsTest, ReadsOtherFormatsToo) {
  std::string record, payload;
  const FeatureId ids[] = {5, 6};
  const float values[] = {1, 2};
  AppendTfExample(1, ids, values, &payload);
  AppendRecord(payload, &record);
  FakeFileSystem files;
  files.AddFile("/d/a", record + record);
  files.AddFile("/d/b", "0 5:1\n");
  const auto data = Collect(files);
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->files[0].format->format, DataFormat::kTfRecord);
  EXPECT_EQ(data->files[1].format->format, DataFormat::kLibSvm);
  EXPECT_EQ(data->files[0].rows.rows, 2u);
  EXPECT_EQ(data->all.max_value, 2);
}

TEST(DataStatisticsTest, TheFieldSizeForNamedFieldsIsTheLargestFieldPlusOne) {
  FakeFileSystem files;
  files.AddFile("/d/a", "1 6:7:1 2:3:1\n0 0:8:1\n");
  const auto data = Collect(files);
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->files[0].format->format, DataFormat::kLibFfm);
  EXPECT_EQ(data->all.max_features, 2u);
  EXPECT_EQ(data->field_size, 7);
  files.AddFile("/d/b", "1 1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1\n");
  EXPECT_EQ(Collect(files)->field_size, 8);
}

TEST(DataStatisticsTest, LimitsMakeRowsBadAsInTraining) {
  FakeFileSystem files;
  files.AddFile("/d/a", "1 7:1\n0 8:1\n1 1:1 2:1\n");
  DataStatisticsOptions options;
  options.feature_size = 8;
  options.field_size = 1;
  const auto data = Collect(files, options);
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->all.rows, 1u);
  EXPECT_EQ(data->all.bad_rows, 2u);
}

TEST(DataStatisticsTest, AFileThatCannotBeReadDoesNotHideTheOthers) {
  FakeFileSystem files;
  files.AddFile("/d/a", "1 7:1\n");
  files.AddFile("/d/b", "no data at all\n");
  files.AddFile("/d/c", "1 8:1\n");
  files.AddFile("/d/d", "1 9:1\n");
  files.FailReads("/d/d", absl::InternalError("/d/d: it broke"));
  const auto data = Collect(files);
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->all.rows, 2u);
  EXPECT_TRUE(data->files[2].status.ok());
  EXPECT_EQ(data->files[1].status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(data->files[1].format.has_value());
  EXPECT_EQ(data->files[3].status.message(), "/d/d: it broke");
}

TEST(DataStatisticsTest, SpreadIdsGetNoFeatureSize) {
  const Philox random(3);
  FakeFileSystem files;
  std::string dense, spread, all;
  for (uint32_t i = 0; i < 1000; ++i) {
    absl::StrAppend(&dense, "1 ", 2'000'000 + i, ":1\n");
    absl::StrAppend(&spread, "1 ", random(1, i)[0] * 4294967296ull, ":1\n");
  }
  files.AddFile("/d/a", spread);
  EXPECT_EQ(Collect(files)->feature_size, 0u);
  files.AddFile("/d/a", dense);
  EXPECT_EQ(Collect(files)->feature_size, 0u);
  files.AddFile("/d/a", "1 18446744073709551615:1\n");
  EXPECT_EQ(Collect(files)->feature_size, 0u);
  files.AddFile("/d/a", "1 999999:1\n");
  EXPECT_EQ(Collect(files)->feature_size, 1000000u);
  files.AddFile("/d/a", "1\n");
  EXPECT_EQ(Collect(files)->feature_size, 0u);
  EXPECT_EQ(Collect(files)->field_size, 0);
}

TEST(DataStatisticsTest, NoFileAndBadOptionsAreErrors) {
  FakeFileSystem files;
  EXPECT_EQ(Collect(files).status().code(), absl::StatusCode::kNotFound);
  files.AddFile("/d/a", "1 7:1\n");
  DataStatisticsOptions options;
  options.max_ids = 0;
  EXPECT_EQ(Collect(files, options).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(DataStatisticsTest, ProgressEndsAtTheTotal) {
  FakeFileSystem files;
  std::string text;
  for (int i = 0; i < 10000; ++i) text += "1 2:3 4:5\n";
  files.AddFile("/d/a", text);
  std::vector<DataStatisticsProgress> seen;
  ASSERT_TRUE(CollectDataStatistics(
                  &files, "/d", {},
                  [&](const DataStatisticsProgress& at) { seen.push_back(at); })
                  .ok());
  ASSERT_GE(seen.size(), 3u);
  EXPECT_LT(seen[0].bytes, text.size());
  EXPECT_EQ(seen.back().bytes, text.size());
  EXPECT_EQ(seen.back().rows, 10000u);
}

}  // namespace
}  // namespace shoal
