#include "bench/compare/verdict_turn.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plan/mode_turn.h"
#include "tests/plan/plan_examples.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

Cell CellOf(const std::string& mode, double bits) {
  Cell cell;
  cell.model = "A";
  cell.mode = mode;
  cell.hosts = 4;
  cell.network = "a network";
  cell.bits_per_second = bits;
  cell.cores_per_host = 4;
  return cell;
}

// The cell with one run of this speed.
Cell WithSpeed(Cell cell, double samples_per_second) {
  cell.runs.resize(1);
  cell.runs[0].ok = true;
  cell.runs[0].samples_per_second = samples_per_second;
  return cell;
}

// A ring is the faster one at middle bandwidths, and sync over slow links and
// over very fast ones.
Calibration RingInTheMiddle() {
  Calibration calibration = ExampleCalibration();
  calibration.corrections = {{"ring", 1.02}};
  return calibration;
}

TurnFinder Finder(const Calibration& calibration) {
  return TurnFinder(
      [calibration](const std::string&, int) { return calibration; });
}

VerdictTurn Find(const Calibration& calibration, const Cell& best,
                 const std::vector<Cell>& others) {
  std::vector<const Cell*> cells;
  for (const Cell& cell : others) cells.push_back(&cell);
  return Finder(calibration).Find(best, cells, {}, {});
}

class VerdictTurnTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto turn = FindModeTurn(
        RingInTheMiddle(),
        {.mode = "ring", .other = "sync", .hosts = 4, .cores = 4});
    ASSERT_TRUE(turn.ok()) << turn.status();
    ASSERT_EQ(turn->crossovers.size(), 2u) << turn->text;
    low_ = turn->crossovers.front().bits_per_second;
    high_ = turn->crossovers.back().bits_per_second;
  }

  // Bandwidths at which sync, ring and sync are predicted to be faster.
  double low_ = 0;
  double high_ = 0;
};

TEST_F(VerdictTurnTest, SaysOnBothSidesFromWhereAnotherModeIsFaster) {
  const double between = (low_ + high_) / 2;
  const VerdictTurn turn = Find(RingInTheMiddle(), CellOf("ring", between),
                                {CellOf("sync", between)});
  EXPECT_THAT(turn.text,
              MatchesRegex("sync would be faster than ring above about "
                           "[0-9]+(.[0-9])? [GM]bit/s( .extrapolated.)? and "
                           "also below about [0-9]+(.[0-9])? [GM]bit/s"
                           "( .extrapolated.)?"));
  EXPECT_EQ(turn.missing, "");
}

TEST_F(VerdictTurnTest, NamesTheSideThatThereIs) {
  const double fast = high_ * 2;
  const VerdictTurn turn =
      Find(RingInTheMiddle(), CellOf("sync", fast), {CellOf("ring", fast)});
  EXPECT_THAT(turn.text,
              MatchesRegex("below about [0-9.]+ [GM]bit/s, ring would be "
                           "faster than sync.*"));
  EXPECT_EQ(turn.missing, "");
}

TEST_F(VerdictTurnTest, APredictionThatIsWrongHereIsLeftOut) {
  const double fast = high_ * 2;
  const VerdictTurn turn =
      Find(RingInTheMiddle(), CellOf("ring", fast), {CellOf("sync", fast)});
  EXPECT_EQ(turn.text, "");
  EXPECT_EQ(turn.missing,
            "the planner takes sync for faster than ring on this network "
            "already, where it was not");
}

TEST_F(VerdictTurnTest, APredictionThatIsWrongOnAnotherNetworkIsLeftOut) {
  const double between = (low_ + high_) / 2;
  const Cell ring = CellOf("ring", between);
  const Cell sync = CellOf("sync", between);
  const auto find = [&](const Cell& first, const Cell& second) {
    return Finder(RingInTheMiddle()).Find(ring, {&sync}, {}, {&first, &second});
  };
  // Over faster links sync is predicted to be faster.
  Cell fast_ring = WithSpeed(CellOf("ring", high_ * 2), 1000);
  const Cell fast_sync = WithSpeed(CellOf("sync", high_ * 2), 1200);
  EXPECT_EQ(find(fast_ring, fast_sync).missing, "");
  // Where the two do not differ, it is not faster: a single run may be off by
  // 5 %.
  EXPECT_EQ(find(WithSpeed(fast_ring, 1290), fast_sync).missing,
            "the planner takes sync for faster than ring at a network, where "
            "they do not differ");
  // There no lead of the first mode of the verdict is predicted either.
  const Cell middle_ring = WithSpeed(CellOf("ring", between * 1.01), 1000);
  const Cell middle_sync = WithSpeed(CellOf("sync", between * 1.01), 1000);
  EXPECT_EQ(find(middle_ring, middle_sync).missing, "");
  const VerdictTurn wrong = find(fast_sync, WithSpeed(fast_ring, 1500));
  EXPECT_EQ(wrong.text, "");
  EXPECT_EQ(wrong.missing,
            "the planner takes sync for faster than ring at a network, where "
            "it was not");
  // So is one that does not see a clear lead.
  const double near = high_ * .98;
  EXPECT_EQ(find(WithSpeed(CellOf("sync", near), 1500),
                 WithSpeed(CellOf("ring", near), 1000))
                .missing,
            "the planner takes sync and ring for equally fast at a network, "
            "where they were not");
  // Each mode is compared on one network.
  fast_ring = WithSpeed(fast_ring, 1500);
  fast_ring.network = "another network";
  EXPECT_EQ(find(fast_sync, fast_ring).missing, "");
}

// The lead of a ring at middle bandwidths may be so narrow that the search for
// turns does not find it. It was measured, though.
TEST_F(VerdictTurnTest, NeverIsNotSaidOfAModeThatWasFasterElsewhere) {
  const TurnQuestion question = {
      .mode = "sync", .other = "ring", .hosts = 4, .cores = 4};
  const TurnQuestion other_way = {
      .mode = "ring", .other = "sync", .hosts = 4, .cores = 4};
  Calibration narrow = ExampleCalibration();
  double at = 0;
  for (double factor = 1.02; factor < 1.2 && at == 0; factor += .0002) {
    narrow.corrections = {{"ring", factor}};
    const auto turn = FindModeTurn(narrow, question);
    ASSERT_TRUE(turn.ok()) << turn.status();
    if (!turn->crossovers.empty()) continue;
    for (double bits = low_; bits < high_; bits *= 1.01) {
      if (*PredictedRatio(narrow, other_way, bits) > 1 + kClearLead) at = bits;
    }
  }
  ASSERT_GT(at, 0) << "no lead is so narrow";
  const Cell sync = CellOf("sync", high_ * 2);
  const Cell ring = CellOf("ring", high_ * 2);
  const Cell slow_sync = WithSpeed(CellOf("sync", at), 1000);
  const Cell slow_ring = WithSpeed(CellOf("ring", at), 1200);
  EXPECT_THAT(Finder(narrow).Find(sync, {&ring}, {}, {}).text,
              HasSubstr("would ring be faster than sync"));
  const VerdictTurn turn =
      Finder(narrow).Find(sync, {&ring}, {}, {&slow_sync, &slow_ring});
  EXPECT_EQ(turn.text, "");
  EXPECT_EQ(
      turn.missing,
      "the search over bandwidths misses that ring is faster than sync at "
      "a network");
}

TEST_F(VerdictTurnTest, AModeThatIsLevelHereMayBeFasterElsewhere) {
  const auto find = [](double bits) {
    const Cell sync = CellOf("sync", bits);
    return Finder(RingInTheMiddle())
        .Find(CellOf("ring", bits), {}, {&sync}, {});
  };
  EXPECT_THAT(find((low_ + high_) / 2).text,
              AllOf(HasSubstr("sync would be faster than ring above about "),
                    HasSubstr(" and also below about ")));
  const VerdictTurn fast = find(high_ * 2);
  EXPECT_EQ(fast.text, "");
  EXPECT_EQ(fast.missing,
            "the planner takes sync for faster than ring on this network "
            "already, where they do not differ");
}

// Below the first turn a mode may be ahead by less than counts as faster.
TEST_F(VerdictTurnTest, ASmallLeadIsNoTurn) {
  const TurnQuestion question = {
      .mode = "sync", .other = "async", .hosts = 4, .cores = 4};
  const auto most_lead = [&](const Calibration& calibration, double below) {
    double most = 0;
    for (double bits = kLeastBits; bits < below; bits *= 1.02) {
      most = std::max(most, *PredictedRatio(calibration, question, bits));
    }
    return most;
  };
  Calibration small = ExampleCalibration();
  Calibration large = small;
  double turn_of_small = 0, turn_of_large = 0;
  for (double factor = .8; factor < 1.2; factor += .002) {
    Calibration calibration = ExampleCalibration();
    calibration.corrections = {{"sync", factor}};
    const auto turn = FindModeTurn(calibration, question);
    if (turn->crossovers.size() != 1 ||
        turn->crossovers[0].to->name != std::string("async")) {
      continue;
    }
    const double at = turn->crossovers[0].bits_per_second;
    const double lead = most_lead(calibration, at);
    if (lead > 1.001 && lead < 1 + kClearLead) {
      small = calibration;
      turn_of_small = at;
    }
    if (lead > 1.05) {
      large = calibration;
      turn_of_large = at;
    }
  }
  ASSERT_GT(turn_of_small, 0);
  ASSERT_GT(turn_of_large, 0);
  const auto find = [](const Calibration& calibration, double bits) {
    const Cell sync = CellOf("sync", bits);
    return Finder(calibration)
        .Find(CellOf("async", bits), {&sync}, {}, {})
        .text;
  };
  EXPECT_THAT(find(small, turn_of_small * 2),
              HasSubstr("at no bandwidth from 100 Mbit/s to 400 Gbit/s would "
                        "sync be faster than async"));
  EXPECT_THAT(find(large, turn_of_large * 2), HasSubstr("below about"));
}

TEST_F(VerdictTurnTest, AModeThatIsFasterThoughNotTheBestIsLeftOut) {
  const double fast = high_ * 2;
  const VerdictTurn turn =
      Find(RingInTheMiddle(), WithSpeed(CellOf("ring", fast), 1000),
           {WithSpeed(CellOf("sync", fast), 1200)});
  EXPECT_EQ(turn.text, "");
  EXPECT_EQ(turn.missing,
            "in samples/s, of which alone the planner speaks, sync is ahead of "
            "ring already");
}

TEST_F(VerdictTurnTest, AModeThatIsNeverFasterIsSaid) {
  Calibration calibration = ExampleCalibration();
  calibration.corrections = {{"ring", 10}};
  const VerdictTurn turn =
      Find(calibration, CellOf("async", 1e9), {CellOf("ring", 1e9)});
  EXPECT_THAT(turn.text,
              HasSubstr("at no bandwidth from 100 Mbit/s to 400 Gbit/s would "
                        "ring be faster than async"));
  EXPECT_EQ(turn.missing, "");
  calibration.corrections = {{"ring", 10}, {"hybrid", 10}, {"sync", 10}};
  EXPECT_THAT(Find(calibration, CellOf("async", 1e9),
                   {CellOf("sync", 1e9), CellOf("hybrid", 1e9),
                    CellOf("ring", 1e9)})
                  .text,
              HasSubstr("would sync, hybrid or ring be faster than async"));
  // Unless that is not so where it was measured.
  const VerdictTurn wrong =
      Find(calibration, CellOf("ring", 1e9), {CellOf("async", 1e9)});
  EXPECT_EQ(wrong.text, "");
  EXPECT_THAT(wrong.missing,
              HasSubstr("takes async for faster than ring on this network"));
}

TEST_F(VerdictTurnTest, AModeThatThePlannerDoesNotKnowIsNamed) {
  Cell backup = CellOf("sync", high_ / 2);
  backup.backup_workers = 1;
  const VerdictTurn turn = Find(RingInTheMiddle(), CellOf("ring", high_ / 2),
                                {backup, CellOf("sync", high_ / 2)});
  EXPECT_EQ(turn.missing, "the planner knows nothing of sync+1");
  const VerdictTurn alone =
      Find(RingInTheMiddle(), CellOf("ring", high_ / 2), {backup});
  EXPECT_EQ(alone.text, "");
  EXPECT_EQ(alone.missing, turn.missing);
  EXPECT_THAT(turn.text, HasSubstr("sync would be faster than ring"));
}

TEST_F(VerdictTurnTest, SaysWhyNothingIsPredicted) {
  const std::vector<Cell> ring = {CellOf("ring", 1e9)};
  Cell best = CellOf("async", 1e9);
  best.hosts = 1;
  EXPECT_EQ(Find(RingInTheMiddle(), best, ring).missing,
            "one host uses no network");
  best = CellOf("async", 0);
  EXPECT_THAT(Find(RingInTheMiddle(), best, ring).missing,
              HasSubstr("which bandwidth these links have"));
  best = CellOf("async", 1e9);
  best.straggler = Straggler{1, .5};
  EXPECT_THAT(Find(RingInTheMiddle(), best, ring).missing,
              HasSubstr("slow hosts"));
  best = CellOf("sync", 1e9);
  best.backup_workers = 1;
  EXPECT_THAT(Find(RingInTheMiddle(), best, ring).missing,
              HasSubstr("backup workers"));
}

TEST_F(VerdictTurnTest, CalibratesOnceForAModelAndHostsAndSaysWhyItCannot) {
  int calls = 0;
  TurnFinder finder(
      [&](const std::string& model, int hosts) -> absl::StatusOr<Calibration> {
        ++calls;
        EXPECT_EQ(hosts, calls <= 1 ? 4 : 8);
        if (model == "A") return RingInTheMiddle();
        return absl::InvalidArgumentError("no cell with servers");
      });
  const Cell sync = CellOf("sync", 1e9);
  Cell ring = CellOf("ring", (low_ + high_) / 2);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(finder.Find(ring, {&sync}, {}, {}).text, "");
  }
  EXPECT_EQ(calls, 1);
  ring.model = "B";
  ring.hosts = 8;
  for (int i = 0; i < 3; ++i) {
    const VerdictTurn turn = finder.Find(ring, {&sync}, {}, {});
    EXPECT_EQ(turn.text, "");
    EXPECT_EQ(turn.missing,
              "the planner could not be calibrated: no cell with servers");
  }
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace shoal
