#include "plan/mode_turn.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plan/prediction.h"
#include "tests/plan/plan_examples.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

ModeTurn TurnOf(const Calibration& calibration, const TurnQuestion& question) {
  const auto turn = FindModeTurn(calibration, question);
  EXPECT_TRUE(turn.ok()) << turn.status();
  return turn.ok() ? *turn : ModeTurn();
}

// A ring is the faster one at middle bandwidths, and sync over slow links and
// over very fast ones.
Calibration RingInTheMiddle() {
  Calibration c = ExampleCalibration();
  c.corrections = {{"ring", 1.02}};
  return c;
}

TEST(ModeTurnTest, ATurnIsWhereTheFasterModeChanges) {
  const Calibration c = RingInTheMiddle();
  const ModeTurn turn = TurnOf(
      c, {.mode = "ring", .other = "sync", .hosts = 4, .cores = 4});
  ASSERT_THAT(turn.crossovers, SizeIs(2));
  const Crossover& last = turn.crossovers.back();
  EXPECT_STREQ(last.from->name, "ring");
  EXPECT_STREQ(last.to->name, "sync");
  EXPECT_THAT(turn.text, HasSubstr(CrossoverText(turn.crossovers.front()) +
                                   "; sync overtakes ring above "));
  EXPECT_THAT(turn.text, HasSubstr(" at 4 hosts"));
  const auto lead = [&c](double bits) {
    const ClusterDescription cluster = ExampleCluster(4, bits / 1e9);
    const PlannedJob job = MeasuredJob(c);
    return Predict(*FindModeShape("sync"), c, job, cluster, 4)
               .samples_per_second /
           Predict(*FindModeShape("ring"), c, job, cluster, 4)
               .samples_per_second;
  };
  EXPECT_LT(lead(last.bits_per_second / 1.05), 1 + kClearLead);
  EXPECT_GT(lead(last.bits_per_second * 1.05), 1 + kClearLead);
}

TEST(ModeTurnTest, TheOrderOfTheTwoModesDoesNotMatter) {
  const Calibration c = RingInTheMiddle();
  EXPECT_EQ(TurnOf(c, {.mode = "ring", .other = "sync", .hosts = 4}).text,
            TurnOf(c, {.mode = "sync", .other = "ring", .hosts = 4}).text);
}

TEST(ModeTurnTest, AModeThatIsAlwaysFasterIsNamed) {
  Calibration c = ExampleCalibration();
  c.corrections = {{"ring", 4}};
  for (const bool swapped : {false, true}) {
    const ModeTurn turn = TurnOf(c, {.mode = swapped ? "ring" : "async",
                                     .other = swapped ? "async" : "ring",
                                     .hosts = 4});
    EXPECT_THAT(turn.crossovers, IsEmpty());
    ASSERT_NE(turn.ahead, nullptr);
    EXPECT_STREQ(turn.ahead->name, "async");
    EXPECT_THAT(turn.text,
                HasSubstr("async is faster than ring at every bandwidth from "
                          "0.1 to 400 Gbit/s at 4 hosts"));
  }
}

TEST(ModeTurnTest, TwoModesThatAreAlikeHaveNoOrder) {
  Calibration c = ExampleCalibration();
  c.step_times = RelativeTimes();  // no step is slower than another
  const ModeTurn turn =
      TurnOf(c, {.mode = "async", .other = "ssp", .hosts = 4});
  EXPECT_THAT(turn.text,
              HasSubstr("async and ssp are within 3 % of each other"));
  EXPECT_EQ(turn.ahead, nullptr);
}

TEST(ModeTurnTest, ASmallLeadIsNotCalledALead) {
  Calibration c = ExampleCalibration();
  c.step_times = RelativeTimes();
  c.corrections = {{"ssp", 1.02}};
  EXPECT_THAT(TurnOf(c, {.mode = "async", .other = "ssp", .hosts = 4}).text,
              HasSubstr("within 3 %"));
}

TEST(ModeTurnTest, WhatWasNotMeasuredIsMarked) {
  Calibration c = RingInTheMiddle();
  EXPECT_THAT(TurnOf(c, {.mode = "ring", .other = "sync", .hosts = 4}).text,
              HasSubstr("(extrapolated)"));
  c.most_hosts = 4;
  c.least_bits = kLeastBits;
  c.most_bits = kMostBits;
  const ModeTurn inside =
      TurnOf(c, {.mode = "ring", .other = "sync", .hosts = 4});
  EXPECT_FALSE(inside.extrapolated);
  EXPECT_THAT(inside.text, Not(HasSubstr("extrapolated")));
}

TEST(ModeTurnTest, OneHostHasNoNetwork) {
  const ModeTurn turn =
      TurnOf(ExampleCalibration(), {.mode = "async", .other = "ring"});
  EXPECT_THAT(turn.crossovers, IsEmpty());
  EXPECT_THAT(turn.text, HasSubstr("needs no network"));
}

TEST(ModeTurnTest, AQuestionThatCannotBeIsRefused) {
  const Calibration c = ExampleCalibration();
  const auto why = [&c](const TurnQuestion& question) {
    return std::string(FindModeTurn(c, question).status().message());
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
