#include "bench/compare/verdict_text.h"

#include <string>
#include <vector>

#include "bench/compare/not_played.h"
#include "bench/compare/verdict_turn.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ModeVerdict Verdict(const std::string& text, const std::string& turn) {
  ModeVerdict verdict;
  verdict.text = text;
  verdict.rule = "the fastest is best";
  verdict.turn = turn;
  return verdict;
}

TEST(VerdictTextTest, EachRuleStandsOnceBelowTheVerdicts) {
  Comparison found;
  found.verdicts = {Verdict("ring is best", ""), Verdict("sync is best", "")};
  found.not_played = {"latency"};
  EXPECT_EQ(VerdictText(found),
            "ring is best\nsync is best\nRule: the fastest is best\n"
            "Not played: latency.\n");
}

TEST(VerdictTextTest, WhatIsPredictedHasItsRule) {
  Comparison found;
  found.verdicts = {Verdict("ring is best", "from 6 Gbit/s on, async")};
  EXPECT_THAT(VerdictText(found), HasSubstr(kTurnRule));
  found.verdicts[0].turn = "";
  EXPECT_THAT(VerdictText(found), Not(HasSubstr(kTurnRule)));
}

TEST(NotPlayedTest, DependsOnTheHostsAndOnTheCells) {
  EXPECT_THAT(NotPlayed("hosts", {})[0], HasSubstr("neighbours"));
  EXPECT_THAT(NotPlayed("loopback", {})[0], HasSubstr("networks"));
  const size_t always = NotPlayed("lab", {Cell()}).size();
  Cell cell;
  cell.cores_per_host = 2;
  cell.compute = kReplayed;
  const std::vector<std::string> all = NotPlayed("lab", {Cell(), cell});
  ASSERT_EQ(all.size(), always + 2);
  EXPECT_THAT(all[always], HasSubstr("single cores of hosts with several"));
  EXPECT_THAT(all[always + 1], HasSubstr("caches that a computation takes"));
}

}  // namespace
}  // namespace shoal
