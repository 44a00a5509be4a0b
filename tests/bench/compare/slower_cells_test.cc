#include "bench/compare/slower_cells.h"

#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "bench/compare/comparison_json.h"
#include "bench/compare/dilation_check.h"
#include "tests/bench/compare/comparison_run_fixture.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

// Cells that are tried and played slower, as a whole comparison does it.
using SlowerCellsTest = ComparisonRunTest;

// The speed of ring at each dilation; other modes have 1000.
std::function<absl::StatusOr<CellRun>(const Cell&, CellRun)> RingHas(
    std::map<double, double> speeds) {
  return [speeds = std::move(speeds)](const Cell& cell,
                                      CellRun run) -> absl::StatusOr<CellRun> {
    run.samples_per_second =
        cell.mode == "ring" ? speeds.at(cell.dilation) : 1000;
    return run;
  };
}

// They differ, within the spread of its runs.
absl::StatusOr<CellRun> TriesOfRingAreSlow(const Cell& cell, CellRun run) {
  const bool slow = cell.dilation == 2 || run.repeat == 1;
  run.samples_per_second = cell.mode == "ring" && slow ? 900 : 1000;
  return run;
}

TEST_F(SlowerCellsTest, HostsOfAModeThatDiffersAtTwiceArePlayedAtIt) {
  options_.check_dilation = true;
  options_.comparison.repeats = 1;
  next_ = RingHas({{1, 1000}, {2, 800}, {4, 810}});
  ASSERT_TRUE(Run().ok());
  // Three cells, each once at twice, and ring, which differs, two times more.
  // The first of these are their runs at twice, and each is tried once.
  EXPECT_EQ(measured_.size(), 11u);
  EXPECT_EQ(
      std::set<std::string>(measured_.begin(), measured_.begin() + 6),
      (std::set<std::string>{"A_async.0", "A_async_twice.0", "A_ring.0",
                             "A_ring_twice.0", "A_sync.0", "A_sync_twice.0"}));
  EXPECT_EQ(found_.cells[0].grey, "");
  EXPECT_EQ(found_.cells[0].dilation, 2);
  EXPECT_EQ(found_.cells[0].dilation_difference, 0);
  EXPECT_EQ(found_.cells[1].name, "A_ring");
  EXPECT_EQ(found_.cells[1].grey, "");
  EXPECT_EQ(found_.cells[1].dilation, 2);
  EXPECT_EQ(found_.cells[1].runs.size(), 1u) << "as many as were asked for";
  EXPECT_NEAR(*found_.cells[1].dilation_difference, .0125, 1e-9);
  EXPECT_EQ(found_.cells[1].formula->ps_received, 500);
  EXPECT_EQ(found_.dilation, 2);
  EXPECT_THAT(said_, HasSubstr("ring on 1 host differs from itself when it is "
                               "played twice as slow; so all modes on 1 host "
                               "are measured at that: 3 cells"));
  EXPECT_THAT(said_, HasSubstr("run 8 of 8, about "));
  EXPECT_THAT(said_, HasSubstr("run 11 of 11, about "));
  EXPECT_EQ(ComparisonJson(Written()), ComparisonJson(found_));
  // All that is there already.
  ASSERT_TRUE(Run().ok());
  EXPECT_TRUE(measured_.empty());
  EXPECT_EQ(found_.cells[1].dilation, 2);
}

// Runs of a cell that is measured slower are not tries, though the tries are
// the first of them.
TEST_F(SlowerCellsTest, WhatWasTriedIsDecidedByTheTriesAlone) {
  options_.check_dilation = true;
  options_.comparison.repeats = 5;
  // The tries of ring differ; then it is as fast at twice as it was.
  int tries = 0;
  next_ = [&](const Cell& cell, CellRun run) -> absl::StatusOr<CellRun> {
    run.samples_per_second =
        cell.mode == "ring" && cell.dilation == 2 && ++tries <= 3 ? 800 : 1000;
    return run;
  };
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(tries, 5);
  EXPECT_EQ(found_.cells[1].dilation, 2);
  EXPECT_EQ(found_.cells[1].runs.size(), 5u);
  ASSERT_TRUE(Run().ok());
  EXPECT_TRUE(measured_.empty());
  EXPECT_EQ(found_.cells[1].dilation, 2);
  EXPECT_EQ(found_.cells[0].dilation, 2);
}

// Tries are compared with runs of the same hour, and there are no more of them
// than are needed.
TEST_F(SlowerCellsTest, TriesComeAmongTheRunsAsLongAsTheyAreNeeded) {
  options_.check_dilation = true;
  options_.comparison.repeats = 4;
  next_ = TriesOfRingAreSlow;
  ASSERT_TRUE(Run().ok());
  // Runs, with the tries of all modes in the first repeat, and then of ring.
  const std::vector<std::set<std::string>> expected = {
      {"A_async.0", "A_async_twice.0", "A_ring.0", "A_ring_twice.0", "A_sync.0",
       "A_sync_twice.0"},
      {"A_async.1", "A_ring.1", "A_ring_twice.1", "A_sync.1"},
      {"A_async.2", "A_ring.2", "A_ring_twice.2", "A_sync.2"},
      {"A_async.3", "A_ring.3", "A_sync.3"}};
  auto next = measured_.begin();
  bool mixed = false;
  for (const std::set<std::string>& round : expected) {
    ASSERT_GE(measured_.end() - next, static_cast<ptrdiff_t>(round.size()));
    const auto end = next + static_cast<ptrdiff_t>(round.size());
    EXPECT_EQ(std::set<std::string>(next, end), round);
    mixed |= !std::is_partitioned(next, end, [](const std::string& run) {
      return !absl::StrContains(run, "_twice");
    });
    next = end;
  }
  EXPECT_EQ(next, measured_.end());
  EXPECT_TRUE(mixed) << "in random order";
  EXPECT_THAT(said_, HasSubstr("run 17 of 17, about "));
}

// A comparison of before may have left any of the tries.
TEST_F(SlowerCellsTest, ATryThatIsMissingIsMadeOnce) {
  options_.check_dilation = true;
  options_.comparison.repeats = 3;
  next_ = TriesOfRingAreSlow;
  ASSERT_TRUE(Run().ok());
  const std::string path = absl::StrCat(out_, "/dilation/A_ring_twice.1.json");
  ASSERT_EQ(remove(path.c_str()), 0);
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(measured_, ElementsAre("A_ring_twice.0"));
}

// One that was disturbed comes again only if no other has taken its place.
TEST_F(SlowerCellsTest, ADisturbedTryThatIsNotNeededAnyMoreDoesNotComeAgain) {
  options_.check_dilation = true;
  options_.retries = 1;
  next_ = [](const Cell& cell, CellRun run) -> absl::StatusOr<CellRun> {
    run.samples_per_second = 1000;
    const bool is_try = cell.dilation == 2;
    if (cell.mode == "ring" && is_try && run.repeat == 0) run.others_cores = 1;
    return run;
  };
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(std::count(measured_.begin(), measured_.end(), "A_ring_twice.0"),
            1);
  EXPECT_EQ(std::count(measured_.begin(), measured_.end(), "A_ring_twice.1"),
            1);
  EXPECT_EQ(measured_.size(), 2 * 3 + 3u + 1);
  EXPECT_EQ(found_.cells[1].grey, "");
}

// Later runs may say that a mode differs, which its first try did not.
TEST_F(SlowerCellsTest, ATryThatWasLeftOutComesWhenItIsNeeded) {
  options_.check_dilation = true;
  options_.comparison.repeats = 3;
  next_ = [](const Cell& cell, CellRun run) -> absl::StatusOr<CellRun> {
    run.samples_per_second =
        cell.mode == "ring" && cell.dilation == 1 && run.repeat > 0 ? 1100
                                                                    : 1000;
    return run;
  };
  ASSERT_TRUE(Run().ok());
  const auto at = [&](const std::string& name) {
    return std::find(measured_.begin(), measured_.end(), name) -
           measured_.begin();
  };
  EXPECT_EQ(measured_.size(), 3 * 3 + 3u + 2);
  // With the second run the median is 4.8 % above the try.
  EXPECT_LT(at("A_ring.2"), at("A_ring_twice.1"));
  EXPECT_LT(at("A_ring_twice.1"), at("A_ring_twice.2"));
  EXPECT_EQ(found_.cells[1].dilation_verdict, kTriedWithinSpread);
}

// A disturbed run comes again after the tries, which are judged by it then.
TEST_F(SlowerCellsTest, ARunThatCameAgainMayAskForMoreTries) {
  options_.check_dilation = true;
  options_.retries = 1;
  int disturbed = 0;
  int tries = 0;
  next_ = [&](const Cell& cell, CellRun run) -> absl::StatusOr<CellRun> {
    run.samples_per_second = 1000;
    if (cell.mode == "ring" && cell.dilation == 1) {
      // The median is 1000 without the one that comes again, and 1100 with it.
      if (run.repeat == 1) run.samples_per_second = 1200;
      if (run.repeat == 1 && ++disturbed == 1) run.others_cores = 1;
    }
    if (cell.mode == "ring" && cell.dilation == 2) ++tries;
    return run;
  };
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(disturbed, 2);
  EXPECT_EQ(tries, 3);
  EXPECT_EQ(found_.cells[1].dilation_verdict, kTriedWithinSpread);
}

TEST_F(SlowerCellsTest, CellsThatDifferStillAreGrey) {
  options_.check_dilation = true;
  options_.comparison.repeats = 1;
  next_ = RingHas({{1, 1000}, {2, 800}, {4, 640}});
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(found_.cells[1].grey,
              EndsWith("ring on 1 host depend on how slowly it is played: "
                       "model A, which was tried for all models and networks, "
                       "had 20 % fewer samples/s at dilation 4 than at 2"));
  EXPECT_EQ(found_.cells[0].grey, "");
}

TEST_F(SlowerCellsTest, CellsThatCannotBePlayedSlowerAreGrey) {
  options_.check_dilation = true;
  options_.comparison.repeats = 1;
  for (Cell& cell : options_.comparison.cells) cell.dilation = 20;
  next_ = RingHas({{20, 1000}, {40, 800}});
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(measured_.size(), 8u);
  EXPECT_EQ(found_.cells[1].dilation, 20);
  EXPECT_THAT(found_.cells[1].grey,
              EndsWith("fewer samples/s at dilation 40 than at 20"));
}

TEST_F(SlowerCellsTest, AllCellsOfTheHostsArePlayedSlower) {
  options_.check_dilation = true;
  AddModel("B", {"ring", "async"});
  options_.comparison.cells[4].hosts = 2;
  next_ = RingHas({{1, 1000}, {2, 800}, {4, 800}});
  // Ten runs, three tries and two more of ring; then the first one of others.
  stop_after_ = 16;
  EXPECT_TRUE(absl::IsCancelled(Run()));
  EXPECT_EQ(Written().ended, "");
  // They are not measured to the end, so all are as they were before.
  for (const Cell& cell : Written().cells) {
    EXPECT_EQ(cell.dilation, 1);
    EXPECT_EQ(cell.runs.size(), 2u);
    EXPECT_EQ(cell.grey.empty(), cell.mode != "ring") << cell.grey;
    if (cell.mode == "ring") {
      EXPECT_THAT(cell.grey, EndsWith("; it was stopped before all of them "
                                      "were measured at 2 and tried at 4"));
    }
  }
  stop_after_ = 1000;
  ASSERT_TRUE(Run().ok());
  // B's ring twice, async and sync once more, and a try of each mode at four
  // times, less the first one of these.
  EXPECT_EQ(measured_.size(), 6u);
  const Comparison found = Written();
  EXPECT_EQ(found.cells[0].dilation, 2);
  EXPECT_EQ(found.cells[0].runs.size(), 2u);
  EXPECT_EQ(found.cells[3].dilation, 2);
  EXPECT_EQ(found.cells[3].runs.size(), 2u);
  EXPECT_EQ(found.cells[3].runs[0].samples_per_second, 800);
  EXPECT_EQ(found.cells[3].grey, "");
  EXPECT_EQ(found.cells[4].dilation, 1);
}

TEST_F(SlowerCellsTest, CellsThatArePlayedAsSlowAlreadyStay) {
  options_.check_dilation = true;
  AddModel("B", {"ring"});
  options_.comparison.cells[3].dilation = 10;
  next_ = RingHas({{1, 1000}, {2, 800}, {4, 800}, {10, 700}});
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(found_.cells[1].dilation, 2);
  EXPECT_EQ(found_.cells[3].dilation, 10);
  EXPECT_EQ(found_.cells[3].runs.size(), 2u);
  EXPECT_EQ(found_.cells[3].dilation_difference, 0);
  EXPECT_EQ(found_.cells[3].grey, "");
  // They are judged by the tries of the others.
  std::string out = absl::StrCat(::testing::TempDir(), "/compare-XXXXXX");
  ASSERT_NE(mkdtemp(out.data()), nullptr);
  options_.out = out;
  next_ = RingHas({{1, 1000}, {2, 800}, {4, 600}, {10, 700}});
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(found_.cells[3].grey, HasSubstr("at dilation 4 than at 2"));
}

TEST_F(SlowerCellsTest, AllReduceIsMeasuredAtTheDilationOfTheCells) {
  options_.check_dilation = true;
  next_ = RingHas({{1, 1000}, {2, 800}, {4, 800}});
  double dilation = 0;
  options_.add_collective = [&](bool, Comparison* found) {
    dilation = found->cells[1].dilation;
    return absl::OkStatus();
  };
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(dilation, 2);
}

TEST_F(SlowerCellsTest, ASlowRunOfAnotherComparisonIsSeenAtOnce) {
  options_.check_dilation = true;
  next_ = RingHas({{1, 1000}, {2, 800}, {4, 800}});
  ASSERT_TRUE(Run().ok());
  const std::string path = absl::StrCat(out_, "/dilation/A_ring_twice.2.json");
  ASSERT_TRUE(files_->WriteFileAtomically(path, "{").ok());
  options_.out = out_;
  EXPECT_THAT(std::string(Run().message()), HasSubstr(path));
  EXPECT_FALSE(has_begun_);
}

TEST_F(SlowerCellsTest, TheCheckOfTheDilationGoesOnAfterAStop) {
  options_.check_dilation = true;
  options_.comparison.repeats = 1;
  // All of them differ.
  next_ = [](const Cell& cell, CellRun run) -> absl::StatusOr<CellRun> {
    run.samples_per_second = cell.dilation > 1 ? 800 : 1000;
    return run;
  };
  stop_after_ = 7;  // three cells, each once at twice, and one more
  EXPECT_TRUE(absl::IsCancelled(Run()));
  stop_after_ = 1000;
  ASSERT_TRUE(Run().ok());
  // Five tries more, and each cell once at four times.
  EXPECT_EQ(measured_.size(), 8u);
  EXPECT_THAT(said_, HasSubstr("ring on 1 host differs from itself when it is "
                               "played twice as slow, as another mode does"));
}

}  // namespace
}  // namespace shoal
