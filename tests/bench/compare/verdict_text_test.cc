#include "bench/compare/verdict_text.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/compare/not_played.h"
#include "bench/compare/state_words.h"
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
  found.verdicts = {Verdict("ring is best\nring: 9 s\nsync: 10 s", ""),
                    Verdict("sync is best", "")};
  found.not_played = {"latency"};
  EXPECT_EQ(VerdictText(found),
            absl::StrCat("ring is best\n  ring: 9 s\n  sync: 10 s\n"
                         "sync is best\n"
                         "Equal in all cells: the batch of each worker.\n"
                         "Rule: the fastest is best\n"
                         "Rule: ",
                         LimitRule(),
                         "\n"
                         "Rule: A cell is grey, and in no verdict, if a run of "
                         "it failed or if others used more than 0.15 of a core "
                         "during a run.\n"
                         "Not played: latency.\n"));
  found.where = "lab";
  EXPECT_THAT(VerdictText(found),
              HasSubstr("if a run of it failed or if others used more than "
                        "0.15 of a core during a run."))
      << "no link was measured, and no dilation tried";
  Cell cell;
  cell.dilation_difference = .01;
  cell.runs.emplace_back().link_expected = 1e9;
  found.cells = {cell};
  EXPECT_THAT(VerdictText(found),
              HasSubstr("if a run of it failed, if just before a run a bare "
                        "stream was not within 3 % of what its link has to "
                        "carry, if others used more than 0.15 of a core during "
                        "a run or if its mode on its number of hosts differs "
                        "from itself at twice the dilation, by more than 5 % "
                        "and so that their spreads do not overlap, or failed "
                        "when it was tried at that."));
  found.cells[0].dilation_difference = std::nullopt;
  found.cells[0].runs[0].link_expected = std::nullopt;
  found.cells[0].runs[0].paused_speed = .8;
  EXPECT_THAT(VerdictText(found),
              HasSubstr("of a core during a run or if it could not be measured "
                        "how much pauses slow its hosts down."));
  found.where = "hosts";
  found.cells.clear();
  EXPECT_THAT(VerdictText(found), HasSubstr("if a run of it failed.\n"));
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
