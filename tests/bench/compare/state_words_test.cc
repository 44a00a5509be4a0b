#include "bench/compare/state_words.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "core/worker_time.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

Cell CellWith(const std::vector<std::map<std::string, double>>& runs) {
  Cell cell;
  cell.mode = "async";
  cell.hosts = 2;
  for (const auto& shares : runs) {
    CellRun run;
    run.ok = true;
    run.state_shares = shares;
    cell.runs.push_back(run);
  }
  return cell;
}

TEST(StateWordsTest, EachStateHasPlainWordsOfItsOwn) {
  std::set<std::string> seen;
  for (const char* state : kStepStateNames) {
    const std::string words = StateWords(state);
    EXPECT_TRUE(seen.insert(words).second) << words;
    EXPECT_FALSE(absl::StrContains(words, "_")) << words;
    EXPECT_EQ(absl::StartsWith(words, "wait for "),
              absl::StartsWith(state, "wait_"))
        << words;
  }
  EXPECT_EQ(StateWords("compute"), "compute");
  EXPECT_EQ(StateWords("wait_pull"), "wait for pulled variables");
  EXPECT_EQ(StateWords("wait_ring"),
            "wait for the others of the ring or a push");
  EXPECT_EQ(StateWords("dream"), "dream");
}

TEST(LimitWordsTest, NamesTheWaitsFromTheLongestOn) {
  EXPECT_EQ(LimitWords(CellWith(
                {{{"compute", .3}, {"wait_push", .2}, {"wait_pull", .5}},
                 {{"compute", .3}, {"wait_push", .04}, {"wait_pull", .66}}})),
            "its workers wait for pulled variables 58 % of a step, for answers "
            "to pushes 12 %");
  EXPECT_EQ(LimitWords(CellWith({{{"compute", .3},
                                  {"wait_pace", .21},
                                  {"wait_pull", .4},
                                  {"wait_push", .09}}})),
            "its workers wait for pulled variables 40 % of a step, for slower "
            "workers 21 %, for answers to pushes 9 %");
}

TEST(LimitWordsTest, OneHostDoesNotWaitForOthers) {
  Cell cell = CellWith({{{"compute", .5}, {"wait_ring", .5}}});
  cell.mode = "ring";
  cell.hosts = 1;
  EXPECT_EQ(LimitWords(cell),
            "its workers wait for their own copy of the variables 50 % of a "
            "step");
  cell.mode = "hybrid";
  EXPECT_EQ(LimitWords(cell), "its workers wait for a push 50 % of a step");
  cell = CellWith({{{"compute", .5}, {"wait_step", .5}}});
  cell.mode = "sync";
  cell.hosts = 1;
  EXPECT_EQ(LimitWords(cell),
            "its workers wait for the servers 50 % of a step");
}

TEST(LimitWordsTest, LeavesWaitsOfNextToNothingOut) {
  EXPECT_EQ(LimitWords(CellWith(
                {{{"compute", .5}, {"wait_pull", .46}, {"wait_push", .04}}})),
            "its workers wait for pulled variables 46 % of a step");
  EXPECT_EQ(LimitWords(CellWith({{{"compute", .88},
                                  {"wait_data", .04},
                                  {"wait_pull", .04},
                                  {"wait_push", .04}}})),
            "its workers compute 88 % of a step");
}

TEST(LimitWordsTest, NamesTheWorkIfTheyWaitForNextToNothing) {
  EXPECT_EQ(LimitWords(CellWith(
                {{{"compute", .9}, {"prepare", .06}, {"wait_data", .04}}})),
            "its workers compute 90 % of a step");
}

TEST(LimitWordsTest, OfARingNamesNoPush) {
  Cell cell = CellWith({{{"compute", .6}, {"wait_ring", .4}}});
  cell.mode = "hybrid";
  EXPECT_EQ(LimitWords(cell),
            "its workers wait for the others of the ring or a push 40 % of a "
            "step");
  cell.mode = "ring";
  EXPECT_EQ(LimitWords(cell),
            "its workers wait for the others of the ring 40 % of a step");
}

TEST(LimitWordsTest, SaysHowBusyTheHostsAre) {
  Cell cell = CellWith({{{"compute", .4}, {"wait_pull", .6}}});
  cell.cores_per_host = 2;
  cell.bits_per_second = 1e6;
  CellRun& run = cell.runs[0];
  run.samples_per_second = 100;
  // 50 samples/s of each host: 1.28 of its 2 cores, and half of 1,300 + 1,200
  // bytes a sample that leave it.
  run.cpu_seconds_per_sample = RoleFigures{.worker = .02, .ps = .0056};
  run.bytes_per_sample = RoleBytes{.worker_sent = 1300,
                                   .worker_received = 1200,
                                   .ps_sent = 1200,
                                   .ps_received = 1300};
  const std::string waits =
      "its workers wait for pulled variables 60 % of a step";
  EXPECT_EQ(LimitWords(cell),
            waits + "; its hosts' cores are 64 % busy, their links 50 %");
  cell.cores_per_host = 0;  // not known
  EXPECT_EQ(LimitWords(cell), waits + "; its hosts' links are 50 % busy");
  cell.bits_per_second = 0;  // no limit that is known
  EXPECT_EQ(LimitWords(cell), waits);
  cell.cores_per_host = 2;
  EXPECT_EQ(LimitWords(cell), waits + "; its hosts' cores are 64 % busy");
  cell.straggler = Straggler{1, .5};
  EXPECT_EQ(LimitWords(cell), waits);
}

TEST(LimitWordsTest, SaysNothingWithoutStates) {
  EXPECT_EQ(LimitWords(CellWith({{}})), "");
  EXPECT_EQ(LimitWords(Cell()), "");
}

}  // namespace
}  // namespace shoal
