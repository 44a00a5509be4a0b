#include "plan/plan_text.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "base/json_reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plan/crossover.h"
#include "plan/prediction.h"
#include "tests/plan/plan_examples.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

PlanRequest Request(int hosts, double gbit) {
  PlanRequest request;
  request.calibration = ExampleCalibration();
  request.job = MeasuredJob(request.calibration);
  request.cluster = ExampleCluster(hosts, gbit);
  for (const ModeShape& mode : ModeShapes()) request.modes.push_back(&mode);
  request.hosts = HostsToPlan(hosts);
  return request;
}

TEST(PlanTextTest, HostsGoUpByTwosToTheLast) {
  EXPECT_THAT(HostsToPlan(1), ElementsAre(1));
  EXPECT_THAT(HostsToPlan(8), ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(HostsToPlan(10), ElementsAre(1, 2, 4, 8, 10));
}

TEST(PlanTextTest, EveryModeAndNumberOfHostsHasALine) {
  const std::string text = PlanText(Request(8, 10));
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  const auto rows =
      std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
        return line.find(" ms ") != std::string::npos;
      });
  EXPECT_EQ(rows, 5 * 4);
  for (const std::string& line : lines) EXPECT_LE(line.size(), 120u) << line;
  EXPECT_THAT(text, HasSubstr("predicts speed, never AUC"));
  EXPECT_THAT(text, HasSubstr("* extrapolated: outside the modes"));
  EXPECT_THAT(text, HasSubstr("of linear from 2 hosts: "));
  EXPECT_THAT(text, Not(HasSubstr("cost")));
}

TEST(PlanTextTest, APriceGivesTheCostOfSamples) {
  PlanRequest request = Request(1, 10);
  request.modes = {FindModeShape("ring")};
  request.price_per_host_hour = 3.6;
  const double rate = Predict(*request.modes[0], request.calibration,
                              request.job, request.cluster, 1)
                          .samples_per_second;
  const std::string cost = std::to_string(1e6 / rate).substr(0, 4);
  EXPECT_THAT(PlanText(request), HasSubstr(cost));
  EXPECT_THAT(PlanText(request), HasSubstr("cost/1e9"));
}

TEST(PlanTextTest, AModeThatDoesNotFitIsRefusedWithTheReason) {
  PlanRequest request = Request(2, 10);
  request.job.table_bytes = 100e9;
  request.cluster.memory_bytes = 64e9;
  EXPECT_THAT(PlanText(request), HasSubstr("refused: needs 100 GB of memory"));
}

TEST(PlanTextTest, WhatASearchFoundOutsideTheMeasuredIsMarked) {
  PlanRequest request = Request(2, 5);
  request.calibration.corrections = {{"async", 1.3}};
  request.modes = {FindModeShape("async"), FindModeShape("ring")};
  // All cells of the table were measured, but not all bandwidths.
  std::string text = PlanText(request);
  EXPECT_THAT(text, HasSubstr(" at 2 hosts*\n"));
  EXPECT_THAT(text, HasSubstr("* extrapolated"));
  request.calibration.least_bits = kLeastBits;
  request.calibration.most_bits = kMostBits;
  text = PlanText(request);
  EXPECT_THAT(text, HasSubstr(" at 2 hosts\n"));
  EXPECT_THAT(text, Not(HasSubstr("*")));
}

TEST(PlanTextTest, ThatNothingIsCorrectedIsSaid) {
  PlanRequest request = Request(2, 5);
  EXPECT_THAT(PlanText(request), HasSubstr("corrected  not at all: no cell"));
  request.calibration.corrections = {{"async", 1.25, .75}};
  EXPECT_THAT(PlanText(request), HasSubstr("over formula: async 1.25"));
  EXPECT_THAT(PlanText(request), HasSubstr("on one host: async 0.75"));
}

TEST(PlanTextTest, AThousandHostsAreOneAnswer) {
  const std::string text = PlanText(Request(1000, 25));
  EXPECT_THAT(text, HasSubstr("1000"));
}

TEST(PlanTextTest, TheObjectHasTheFiguresOfTheTable) {
  const PlanRequest request = Request(4, 10);
  const auto document = JsonDocument::Parse(PlanJson(request));
  ASSERT_TRUE(document.ok()) << document.status();
  const JsonNode predictions = (*document)->root().Field("predictions");
  ASSERT_EQ(predictions.Size(100), 15u);
  EXPECT_EQ(predictions.At(0).Field("mode").String(10), "async");
  EXPECT_DOUBLE_EQ(predictions.At(2).Field("samples_per_second").Double(),
                   Predict(*request.modes[0], request.calibration, request.job,
                           request.cluster, 4)
                       .samples_per_second);
  EXPECT_TRUE((*document)->status().ok());
}

}  // namespace
}  // namespace shoal
