#include "plan/plan_text.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/json_reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plan/crossover.h"
#include "plan/prediction.h"
#include "tests/plan/plan_examples.h"

namespace shoal {
namespace {

using ::testing::ContainsRegex;
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
  EXPECT_THAT(text, HasSubstr("predicts speed, never AUC"));
  EXPECT_THAT(text, HasSubstr("* extrapolated: outside the modes"));
  EXPECT_THAT(text, HasSubstr("of linear, on 2 hosts: "));
  EXPECT_THAT(text, Not(HasSubstr("cost")));
}

TEST(PlanTextTest, TheTableHasAHundredColumnsAtMost) {
  PlanRequest request = Request(1000, 10);
  request.price_per_host_hour = 123.4;
  const std::string text = PlanText(request);
  int rows = 0;
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    if (line.find(" ms ") == std::string::npos) continue;
    ++rows;
    EXPECT_LE(line.size(), 100u) << line;
  }
  EXPECT_EQ(rows, 5 * 11);
}

TEST(PlanTextTest, ThatTheSizeOfTheTablesIsNotKnownIsSaid) {
  PlanRequest request = Request(2, 10);
  EXPECT_THAT(PlanText(request), Not(HasSubstr("is not known")));
  request.job.table_bytes = 0;
  EXPECT_THAT(PlanText(request),
              HasSubstr("The size of the tables is not known"));
}

TEST(PlanTextTest, AModeThatNoOtherOvertakesIsNamedWithTheMargin) {
  PlanRequest request = Request(2, 5);
  request.calibration.corrections = {{"ring", 10}};
  request.modes = {FindModeShape("async"), FindModeShape("ring")};
  EXPECT_THAT(PlanText(request),
              HasSubstr("no mode is 3 % faster than async at any bandwidth at "
                        "2 hosts"));
}

TEST(PlanTextTest, APriceGivesTheCostOfSamples) {
  PlanRequest request = Request(1, 10);
  request.modes = {FindModeShape("ring")};
  request.price_per_host_hour = 3.6;
  const double rate = Predict(*request.modes[0], request.calibration,
                              request.job, request.cluster, 1)
                          .samples_per_second;
  const std::string cost = std::to_string(1e6 / rate).substr(0, 4);
  EXPECT_THAT(PlanText(request), HasSubstr("cost/1e9"));
  EXPECT_THAT(PlanText(request),
              ContainsRegex(absl::StrCat("\nring [^\n]*", cost)));
}

TEST(PlanTextTest, AModeThatDoesNotFitIsRefusedWithTheReason) {
  PlanRequest request = Request(2, 10);
  request.job.table_bytes = 100e9;
  request.cluster.memory_bytes = 64e9;
  EXPECT_THAT(PlanText(request), HasSubstr("refused: needs 100 GB of memory"));
}

TEST(PlanTextTest, AModeThatDoesNotFitIsNotNearlyLinear) {
  PlanRequest request = Request(4, 10);
  request.job.table_bytes = 100e9;
  request.cluster.memory_bytes = 64e9;
  const std::string text = PlanText(request);
  EXPECT_THAT(text, HasSubstr("ring stays within 90 % of linear, on 2 hosts: "
                              "refused; on 4 hosts: refused\n"));
  // Servers share the table.
  EXPECT_THAT(text, Not(HasSubstr("async stays within 90 % of linear, on 2 "
                                  "hosts: refused")));
  const auto document = JsonDocument::Parse(PlanJson(request));
  ASSERT_TRUE(document.ok()) << document.status();
  const JsonNode linear = (*document)->root().Field("linear_from");
  for (size_t i = 0; i < linear.Size(100); ++i) {
    const JsonNode entry = linear.At(i);
    if (entry.Field("mode").String(10) != "ring") continue;
    EXPECT_EQ(entry.Field("bits_per_second").kind(), JsonKind::kNull);
  }
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
  // A row of the table for each mode.
  const std::string text = PlanText(Request(1000, 25));
  for (const char* mode : {"async", "ssp", "sync", "ring", "hybrid"}) {
    EXPECT_THAT(text, ContainsRegex(absl::StrCat("\n", mode, " +1000 ")));
  }
}

TEST(PlanTextTest, TheObjectHasTheFiguresOfTheTable) {
  PlanRequest request = Request(4, 10);
  request.price_per_host_hour = 3.6;
  const auto document = JsonDocument::Parse(PlanJson(request));
  ASSERT_TRUE(document.ok()) << document.status();
  const JsonNode& root = (*document)->root();
  EXPECT_DOUBLE_EQ(root.Field("price_per_host_hour").Double(), 3.6);
  const JsonNode predictions = root.Field("predictions");
  ASSERT_EQ(predictions.Size(100), 15u);
  for (size_t i = 0; i < 15; ++i) {
    const JsonNode entry = predictions.At(i);
    const ModeShape* const mode = request.modes[i / 3];
    const int hosts = request.hosts[i % 3];
    const Prediction p = Predict(*mode, request.calibration, request.job,
                                 request.cluster, hosts);
    const auto expect = [&](const char* key, double value) {
      EXPECT_DOUBLE_EQ(entry.Field(key).Double(), value) << key << " " << i;
    };
    EXPECT_EQ(entry.Field("mode").String(10), mode->name);
    EXPECT_EQ(entry.Field("hosts").Int(100), hosts);
    EXPECT_EQ(entry.Field("limit").String(100), LimitText(p.step.limit));
    EXPECT_EQ(entry.Field("extrapolated").Bool(), p.extrapolated);
    EXPECT_EQ(entry.Field("fits").Bool(), p.fits);
    expect("samples_per_second", p.samples_per_second);
    expect("efficiency", p.efficiency);
    expect("step_seconds", p.step.step_seconds);
    expect("wait_seconds", p.step.wait_seconds);
    expect("bytes_per_sample", p.bytes_per_sample);
    expect("memory_bytes", p.memory_bytes);
    expect("cost", 3.6 * hosts * 1e9 / (3600 * p.samples_per_second));
  }
  const JsonNode linear = root.Field("linear_from");
  ASSERT_EQ(linear.Size(100), 10u);
  int found = 0;
  for (size_t i = 0; i < 10; ++i) {
    const JsonNode entry = linear.At(i);
    const auto needed = BitsForEfficiency(
        *request.modes[i / 2], request.calibration, request.job,
        request.cluster, request.hosts[1 + i % 2],
        root.Field("linear_share").Double());
    EXPECT_EQ(entry.Field("mode").String(10), request.modes[i / 2]->name);
    EXPECT_EQ(entry.Field("bits_per_second").kind() == JsonKind::kNull,
              !needed.bits_per_second.has_value());
    EXPECT_EQ(entry.Field("extrapolated").Bool(), needed.extrapolated);
    if (!needed.bits_per_second.has_value()) continue;
    ++found;
    EXPECT_DOUBLE_EQ(entry.Field("bits_per_second").Double(),
                     *needed.bits_per_second);
  }
  EXPECT_GE(found, 5);
  EXPECT_TRUE((*document)->status().ok());
}

}  // namespace
}  // namespace shoal
