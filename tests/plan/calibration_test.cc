#include "plan/calibration.h"

#include <cmath>
#include <string>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plan/plan_examples.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

TEST(CalibrationTest, IdsGoThroughTheMeasuredPoints) {
  const Calibration c = ExampleCalibration();
  EXPECT_NEAR(c.IdsOf(1024), 8750, 1e-6);
  EXPECT_NEAR(c.IdsOf(4096), 24900, 1e-6);
  EXPECT_NEAR(c.IdsOf(2048), std::sqrt(8750 * 24900.0), 1e-6);
  // Beyond: by the slope of the nearest line.
  EXPECT_NEAR(c.IdsOf(65536), 66000.0 * 66000 / 24900, 1e-3);
  EXPECT_LT(c.IdsOf(512), 8750);
}

TEST(CalibrationTest, OnePointGrowsAsIsUsual) {
  Calibration c = ExampleCalibration();
  c.distinct_ids = {{1024, 1000}};
  EXPECT_NEAR(c.IdsOf(16 * 1024), 8000, 1e-6);
}

TEST(CalibrationTest, AFileGivesTheSameCalibrationBack) {
  Calibration c = ExampleCalibration();
  c.corrections = {{"async", 1.03, 1.1}, {"ring", .9, .8, false, false}};
  c.costs.server_call = 71e-6;
  c.modes = {"async", "ring"};
  c.least_cores = .5;
  c.ssp_bound = 7;
  c.pipeline_depth = 2;
  const std::string text = CalibrationToJson(c);
  const auto back = CalibrationFromJson(text);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(CalibrationToJson(*back), text);
  EXPECT_EQ(back->CorrectionOf("ring", 4), .9);
  EXPECT_EQ(back->CorrectionOf("ring", 1), .8);
  EXPECT_EQ(back->CorrectionOf("sync", 1), 1);
  EXPECT_TRUE(back->corrections[0].factor_is_own);
  EXPECT_FALSE(back->corrections[1].alone_is_own);
  EXPECT_EQ(back->costs.server_call, 71e-6);
  EXPECT_EQ(back->modes, c.modes);
  EXPECT_EQ(back->least_cores, .5);
  EXPECT_EQ(back->most_cores, 4);
  EXPECT_EQ(back->ssp_bound, 7);
  EXPECT_EQ(back->pipeline_depth, 2);
  EXPECT_EQ(back->work.In(1024, 8960), 2.4e6 + 61440 * 8.75);
  EXPECT_EQ(back->work.In(1024, 12300), 3.42e6);
}

TEST(CalibrationTest, AFileOfAnOlderVersionIsRead) {
  Calibration c = ExampleCalibration();
  c.corrections = {{"async", 1.2, 1.1}};
  const std::string text = absl::StrReplaceAll(
      CalibrationToJson(c), {{"\"modes\"", "\"a\""},
                             {"\"alone\"", "\"f\""},
                             {"\"factor_is_own\"", "\"h\""},
                             {"\"alone_is_own\"", "\"i\""},
                             {"\"least_cores\"", "\"b\""},
                             {"\"most_cores\"", "\"c\""},
                             {"\"ssp_bound\"", "\"d\""},
                             {"\"work\"", "\"g\""},
                             {"\"pipeline_depth\"", "\"e\""}});
  const auto old = CalibrationFromJson(text);
  ASSERT_TRUE(old.ok()) << old.status();
  EXPECT_EQ(old->most_cores, 0);  // not known
  EXPECT_EQ(old->CorrectionOf("async", 1), 1.2);
  EXPECT_EQ(old->work.plain, 0);  // not known
  EXPECT_EQ(old->ssp_bound, 3);
  EXPECT_EQ(old->pipeline_depth, 1);
}

TEST(CalibrationTest, AFileThatCannotBeIsRefusedWithThePlace) {
  const std::string good = CalibrationToJson(ExampleCalibration());
  const struct {
    const char* from;
    const char* to;
    const char* why;
  } cases[] = {
      {"\"shoal calibration\"", "\"other\"", "--measure"},
      {"\"version\": 1", "\"version\": 2", "version 1"},
      {"\"sample\"", "\"simple\"", "sample"},
      {"\"batch_size\": 1024.0", "\"batch_size\": 0", "batch_size"},
      {"\"batch_size\": 1024.0", "\"batch_size\": \"x\"", "batch_size"},
      {"\"dense_bytes\": ", "\"dense_bytes\": -", "dense_bytes"},
      {"{\"samples\": 4096.0, \"ids\": 24900.0}",
       "{\"samples\": 4096.0, \"ids\": 249.0}", "distinct_ids"},
      {"\"final_share\": 0.35", "\"final_share\": 3.5", "final_share"},
      {"\"per_id\": ", "\"per_id\": -", "work.per_id"},
      {"\"most_cores\": 4.0", "\"most_cores\": -4.0", "most_cores"},
      {"\"pipeline_depth\": 1", "\"pipeline_depth\": 3", "pipeline_depth"},
  };
  for (const auto& c : cases) {
    const std::string bad = absl::StrReplaceAll(good, {{c.from, c.to}});
    ASSERT_NE(bad, good) << c.from << good;
    const auto read = CalibrationFromJson(bad);
    EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument)
        << c.from;
    EXPECT_THAT(std::string(read.status().message()), HasSubstr(c.why));
  }
  EXPECT_FALSE(CalibrationFromJson("{").ok());
}

}  // namespace
}  // namespace shoal
