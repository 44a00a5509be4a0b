#include "plan/mode_lead.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plan/plan_examples.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A ring is the faster one at middle bandwidths, and sync over slow links and
// over very fast ones.
Calibration RingInTheMiddle() {
  Calibration c = ExampleCalibration();
  c.corrections = {{"ring", 1.02}};
  return c;
}

ModeLeads LeadsOf(const Calibration& calibration, const std::string& mode,
                  const std::string& other) {
  const auto leads = FindLeads(
      calibration, {.mode = mode, .other = other, .hosts = 4, .cores = 4});
  EXPECT_TRUE(leads.ok()) << leads.status();
  return leads.ok() ? *leads : ModeLeads();
}

double RatioAt(const Calibration& calibration, const std::string& mode,
               const std::string& other, double bits) {
  const auto lead =
      PredictLead(calibration,
                  {.mode = mode, .other = other, .hosts = 4, .cores = 4}, bits);
  EXPECT_TRUE(lead.ok()) << lead.status();
  return lead.ok() ? lead->ratio : 0;
}

TEST(ModeLeadTest, ARangeEndsWhereTheLeadIsNoLongerClear) {
  const Calibration c = RingInTheMiddle();
  const ModeLeads ring = LeadsOf(c, "ring", "sync");
  ASSERT_THAT(ring.ranges, SizeIs(1));
  const double from = ring.ranges[0].from.value_or(0);
  const double to = ring.ranges[0].to.value_or(0);
  ASSERT_GT(from, kLeastBits);
  ASSERT_GT(to, from);
  const double clear = 1 + kClearLead;
  EXPECT_GE(RatioAt(c, "ring", "sync", from), clear);
  EXPECT_GE(RatioAt(c, "ring", "sync", to), clear);
  EXPECT_LT(RatioAt(c, "ring", "sync", from / LeadRange::kPrecision), clear);
  EXPECT_LT(RatioAt(c, "ring", "sync", to * LeadRange::kPrecision), clear);
  for (double bits = kLeastBits; bits < kMostBits; bits *= 1.1) {
    if (bits > from && bits < to) {
      EXPECT_GE(RatioAt(c, "ring", "sync", bits), clear) << bits;
    } else {
      EXPECT_LT(RatioAt(c, "ring", "sync", bits), clear) << bits;
    }
  }
}

TEST(ModeLeadTest, RangesAtTheLeastAndTheMostBandwidthAreOpen) {
  const Calibration c = RingInTheMiddle();
  const std::vector<LeadRange> sync = LeadsOf(c, "sync", "ring").ranges;
  ASSERT_THAT(sync, SizeIs(2));
  EXPECT_FALSE(sync[0].from.has_value());
  EXPECT_FALSE(sync[1].to.has_value());
  const LeadRange ring = LeadsOf(c, "ring", "sync").ranges.at(0);
  EXPECT_LT(*sync[0].to, *ring.from);
  EXPECT_GT(*sync[1].from, *ring.to);
  EXPECT_TRUE(sync[1].StartsAbove(*ring.to));
  EXPECT_TRUE(sync[0].EndsBelow(*ring.from));
  EXPECT_TRUE(sync[0].Covers(kLeastBits));
  EXPECT_FALSE(sync[0].Covers(*ring.to));
}

TEST(ModeLeadTest, AModeThatIsAlwaysFasterLeadsEverywhere) {
  Calibration c = ExampleCalibration();
  c.corrections = {{"ring", 4}};
  const std::vector<LeadRange> async = LeadsOf(c, "async", "ring").ranges;
  ASSERT_THAT(async, SizeIs(1));
  EXPECT_TRUE(async[0].Covers(kLeastBits) && async[0].Covers(kMostBits));
  EXPECT_THAT(LeadsOf(c, "ring", "async").ranges, IsEmpty());
}

TEST(ModeLeadTest, ASmallLeadIsNone) {
  Calibration c = ExampleCalibration();
  c.step_times = RelativeTimes();  // no step is slower than another
  c.corrections = {{"ssp", 1.02}};
  EXPECT_GT(RatioAt(c, "async", "ssp", 1e9), 1.01);
  EXPECT_THAT(LeadsOf(c, "async", "ssp").ranges, IsEmpty());
  EXPECT_THAT(LeadsOf(c, "ssp", "async").ranges, IsEmpty());
}

TEST(ModeLeadTest, WhatWasNotMeasuredIsMarked) {
  Calibration c = RingInTheMiddle();
  c.most_hosts = 4;
  c.least_cores = c.most_cores = 4;
  c.least_bits = kLeastBits;
  c.most_bits = 1e9;
  ModeLeads ring = LeadsOf(c, "ring", "sync");
  ASSERT_THAT(ring.ranges, SizeIs(1));
  ASSERT_GT(*ring.ranges[0].to, 1.1e9);
  EXPECT_TRUE(ring.ranges[0].extrapolated);
  EXPECT_TRUE(ring.extrapolated);
  c.most_bits = *ring.ranges[0].to;
  ring = LeadsOf(c, "ring", "sync");
  EXPECT_FALSE(ring.ranges.at(0).extrapolated);
  EXPECT_TRUE(ring.extrapolated) << "larger bandwidths were not measured";
  c.most_bits = kMostBits;
  EXPECT_FALSE(LeadsOf(c, "ring", "sync").extrapolated);
}

TEST(ModeLeadTest, AQuestionThatCannotBeIsRefused) {
  const Calibration c = ExampleCalibration();
  const auto why = [&c](const LeadQuestion& question) {
    EXPECT_EQ(PredictLead(c, question, 1e9).status(),
              FindLeads(c, question).status());
    return std::string(FindLeads(c, question).status().message());
  };
  EXPECT_THAT(why({.mode = "async", .other = "rung", .hosts = 4}),
              HasSubstr("'rung'"));
  EXPECT_THAT(why({.mode = "async", .other = "async", .hosts = 4}),
              HasSubstr("itself"));
  EXPECT_THAT(why({.mode = "async", .other = "ring", .hosts = 0}),
              HasSubstr("0 hosts"));
}

}  // namespace
}  // namespace shoal
