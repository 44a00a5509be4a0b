#include "bench/compare/dilation_check.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

Cell CellOf(const std::string& mode, int hosts,
            const std::vector<double>& speeds) {
  Cell cell;
  cell.model = "A";
  cell.mode = mode;
  cell.hosts = hosts;
  cell.network = "1gbit";
  cell.dilation = 4;
  cell.name = absl::StrCat("A_", mode, "_h", hosts);
  for (double speed : speeds) {
    CellRun run;
    run.repeat = static_cast<int>(cell.runs.size());
    run.ok = true;
    run.samples_per_second = speed;
    cell.runs.push_back(run);
  }
  return cell;
}

// The cell at twice its dilation with these speeds.
Cell Twice(const Cell& cell, const std::vector<double>& speeds) {
  Cell twice = CellsAtTwiceTheDilation({cell}).at(0);
  twice.runs = CellOf("", 1, speeds).runs;
  return twice;
}

TEST(CellsAtTwiceTheDilationTest, OneOfEachModeAndNumberOfHosts) {
  Cell other_network = CellOf("ring", 2, {});
  other_network.network = "10gbit";
  Cell other_model = CellOf("async", 2, {});
  other_model.model = "B";
  Cell slow_host = CellOf("sync", 2, {});
  slow_host.straggler = Straggler{1, .5};
  Cell backup = CellOf("sync", 2, {});
  backup.backup_workers = 1;
  Cell too_slow = CellOf("ssp", 2, {});
  too_slow.dilation = 40;
  Cell replayed = CellOf("ring", 2, {});
  replayed.compute = kReplayed;
  const std::vector<Cell> twice = CellsAtTwiceTheDilation(
      {CellOf("ring", 2, {1000}), other_network, other_model, slow_host,
       CellOf("sync", 2, {}), backup, too_slow, CellOf("ring", 4, {}),
       replayed});
  ASSERT_EQ(twice.size(), 5u);
  EXPECT_EQ(twice[0].name, "A_ring_h2_twice");
  EXPECT_EQ(twice[0].dilation, 8);
  EXPECT_TRUE(twice[0].runs.empty());
  EXPECT_EQ(twice[1].mode, "sync");
  EXPECT_EQ(twice[2].backup_workers, 1);
  EXPECT_EQ(twice[3].hosts, 4);
  EXPECT_TRUE(twice[4].replayed());
}

TEST(DilationDifferenceTest, IsThatOfTheMediansWithoutDisturbedRuns) {
  const Cell cell = CellOf("ring", 2, {900, 1000, 5000});
  EXPECT_NEAR(*DilationDifference(cell, Twice(cell, {960})), -.04, 1e-9);
  EXPECT_EQ(DilationDifference(cell, Twice(cell, {})), std::nullopt);
  Cell twice = Twice(cell, {700, 1100});
  twice.runs[0].others_cores = 1;
  EXPECT_NEAR(*DilationDifference(cell, twice), .1, 1e-9);
  twice.runs[1].others_cores = 1;
  EXPECT_EQ(DilationDifference(cell, twice), std::nullopt);
}

TEST(NeedsAnotherTryTest, UntilItAgreesOrThreeDiffer) {
  const Cell cell = CellOf("ring", 2, {1000});
  EXPECT_TRUE(NeedsAnotherTry(cell, Twice(cell, {})));
  EXPECT_FALSE(NeedsAnotherTry(cell, Twice(cell, {960})));
  EXPECT_TRUE(NeedsAnotherTry(cell, Twice(cell, {940})));
  EXPECT_TRUE(NeedsAnotherTry(cell, Twice(cell, {940, 930})));
  EXPECT_FALSE(NeedsAnotherTry(cell, Twice(cell, {940, 990})));
  EXPECT_FALSE(NeedsAnotherTry(cell, Twice(cell, {940, 930, 920})));
  Cell disturbed = Twice(cell, {1000});
  disturbed.runs[0].others_cores = 1;
  EXPECT_TRUE(NeedsAnotherTry(cell, disturbed));
}

// A difference smaller than the spread is none, as in verdicts.
TEST(ShouldBeSlowerTest, NotIfTheSpreadsOverlap) {
  const Cell cell = CellOf("ring", 2, {900, 1000, 1010});
  std::vector<Cell> cells = {cell};
  const Cell overlaps = Twice(cell, {850, 910, 870});
  EXPECT_FALSE(ShouldBeSlower(overlaps, cells));
  JudgeDilation(overlaps, "", &cells);
  EXPECT_EQ(cells[0].grey, "");
  EXPECT_NEAR(cells[0].dilation_difference.value_or(0), -.13, 1e-9);
  EXPECT_EQ(cells[0].dilation_verdict, kTriedWithinSpread);
  // A disturbed run has no spread.
  Cell apart = Twice(cell, {850, 910, 870});
  apart.runs[1].others_cores = 1;
  EXPECT_TRUE(ShouldBeSlower(apart, cells));
  EXPECT_TRUE(ShouldBeSlower(Twice(cell, {850, 890, 870}), cells));
}

TEST(ShouldBeSlowerTest, IfItDiffersAndAllThatAreFasterCanBePlayed) {
  Cell ring = CellOf("ring", 2, {1000});
  ring.dilation = 8;
  Cell other_network = ring;
  other_network.network = "10gbit";
  other_network.dilation = 10;
  const Cell differs = Twice(ring, {900, 890, 880});
  EXPECT_TRUE(ShouldBeSlower(differs, {ring, other_network}));
  EXPECT_FALSE(ShouldBeSlower(Twice(ring, {960}), {ring, other_network}));
  EXPECT_FALSE(ShouldBeSlower(differs, {other_network})) << "not tried";
  // Its hosts would have less than the kernel gives.
  Cell small = other_network;
  small.cores_per_host = .01;
  EXPECT_FALSE(ShouldBeSlower(differs, {ring, small}));
  Cell slow_host = other_network;
  slow_host.straggler = Straggler{1, .01};
  EXPECT_FALSE(ShouldBeSlower(differs, {ring, slow_host}));
  // It need not be slower.
  Cell slow = small;
  slow.dilation = 16;
  EXPECT_TRUE(ShouldBeSlower(differs, {ring, slow}));
  // Another mode on these hosts is to be slower too, and not on other hosts.
  small.mode = "sync";
  EXPECT_FALSE(ShouldBeSlower(differs, {ring, small}));
  small.hosts = 4;
  EXPECT_TRUE(ShouldBeSlower(differs, {ring, small}));
  Cell failed = differs;
  failed.runs[1].ok = false;
  EXPECT_FALSE(ShouldBeSlower(failed, {ring}));
}

TEST(JudgeDilationTest, GreysTheModeOnThisNumberOfHosts) {
  const Cell ring = CellOf("ring", 2, {1000});
  Cell other_network = ring;
  other_network.network = "10gbit";
  Cell failed = ring;
  failed.grey = "run 1 failed: no";
  Cell slow_host = ring;
  slow_host.straggler = Straggler{1, .5};
  Cell replayed = ring;
  replayed.compute = kReplayed;
  std::vector<Cell> cells = {ring,
                             other_network,
                             failed,
                             CellOf("ring", 4, {}),
                             CellOf("sync", 2, {}),
                             slow_host,
                             replayed};
  const std::vector<Cell> before = cells;
  JudgeDilation(Twice(ring, {960}), "; and so on", &cells);
  EXPECT_EQ(cells[1].grey, "");
  EXPECT_NEAR(cells[1].dilation_difference.value_or(0), -.04, 1e-9);
  EXPECT_EQ(cells[1].dilation_verdict, kTriedSame);
  EXPECT_EQ(cells[3].dilation_difference, std::nullopt);
  EXPECT_EQ(cells[3].dilation_verdict, kNotTried);
  cells = before;
  JudgeDilation(Twice(ring, {900, 890, 880}), "; and so on", &cells);
  EXPECT_EQ(cells[0].grey,
            "the figures of ring on 2 hosts depend on how slowly it is played: "
            "model A at 1gbit, which was tried for all models and networks, "
            "had 11 % fewer samples/s at dilation 8 than at 4; and so on");
  EXPECT_EQ(cells[1].grey, cells[0].grey);
  EXPECT_EQ(cells[1].dilation_verdict, kTriedDiffers);
  EXPECT_EQ(cells[2].grey, failed.grey);
  EXPECT_EQ(cells[3].grey, "");
  EXPECT_EQ(cells[4].grey, "");
  EXPECT_EQ(cells[5].grey, cells[0].grey);
  EXPECT_EQ(cells[6].grey, "");
}

TEST(JudgeDilationTest, ATryThatFailsIsAReason) {
  const Cell ring = CellOf("ring", 2, {1000});
  Cell twice = Twice(ring, {900});
  twice.runs[0].ok = false;
  twice.runs[0].samples_per_second = std::nullopt;
  twice.runs[0].error = "ps 1 is lost";
  std::vector<Cell> cells = {ring};
  JudgeDilation(twice, "", &cells);
  EXPECT_THAT(cells[0].grey, HasSubstr("failed when it was played twice"));
  EXPECT_THAT(cells[0].grey, HasSubstr("ps 1 is lost"));
  EXPECT_EQ(cells[0].dilation_verdict, kTriedFailed);
  // One that was not made says nothing.
  cells = {ring};
  JudgeDilation(Twice(ring, {}), "", &cells);
  EXPECT_EQ(cells[0].grey, "");
}

}  // namespace
}  // namespace shoal
