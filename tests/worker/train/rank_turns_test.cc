#include "worker/train/rank_turns.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using Turn = RankTurns::Turn;

TEST(RankTurnsTest, AStepIsBroughtAndThenNothingIsLeftToDo) {
  RankTurns turns;
  EXPECT_EQ(turns.next(), Turn::kWait);
  EXPECT_TRUE(turns.MayBegin());
  turns.BeginStep();
  EXPECT_TRUE(turns.MayBegin());
  turns.HasStep();
  EXPECT_EQ(turns.next(), Turn::kBatch);
  EXPECT_FALSE(turns.lane_ended());
  EXPECT_EQ(turns.hold(), 0u);
  turns.OnRound(0, false);
  // A round that was no step leaves the step where it is.
  EXPECT_EQ(turns.next(), Turn::kBatch);
  turns.EndStep();
  EXPECT_EQ(turns.next(), Turn::kWait);
}

TEST(RankTurnsTest, ALastStepIsBroughtTogetherWithTheEndOfItsLane) {
  RankTurns turns;
  turns.BeginStep();
  turns.HasStep();
  turns.EndLane();
  EXPECT_EQ(turns.next(), Turn::kBatch);
  EXPECT_TRUE(turns.lane_ended());
}

TEST(RankTurnsTest, ARankThatHasEndedItsLaneDoesRoundsUntilAllHave) {
  RankTurns turns;
  turns.EndLane();
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(turns.next(), Turn::kNoBatch);
    EXPECT_TRUE(turns.lane_ended());
    turns.OnRound(0, /*lanes_ended=*/round == 2);
  }
  EXPECT_EQ(turns.next(), Turn::kWait);
  EXPECT_FALSE(turns.lane_ended());
}

TEST(RankTurnsTest, AStepOfTheNextLaneWaitsUntilAllHaveEndedThisOne) {
  RankTurns turns;
  turns.EndLane();
  turns.BeginStep();
  EXPECT_FALSE(turns.MayBegin());
  turns.HasStep();
  turns.EndLane();  // of the next lane, by its only step
  EXPECT_EQ(turns.next(), Turn::kNoBatch);
  turns.OnRound(0, true);
  EXPECT_TRUE(turns.MayBegin());
  EXPECT_EQ(turns.next(), Turn::kBatch);
  EXPECT_TRUE(turns.lane_ended());
  turns.EndStep();
  turns.OnRound(0, true);
  EXPECT_EQ(turns.next(), Turn::kWait);
}

TEST(RankTurnsTest, ARankThatWaitsTellsItsHoldAtOnce) {
  RankTurns turns;
  turns.Hold(3);
  EXPECT_EQ(turns.next(), Turn::kNoBatch);
  EXPECT_EQ(turns.hold(), 3u);
  EXPECT_FALSE(turns.held());
  turns.OnRound(3, false);
  EXPECT_EQ(turns.next(), Turn::kStop);
  EXPECT_TRUE(turns.held());
  turns.Resume(3);
  EXPECT_EQ(turns.next(), Turn::kWait);
  EXPECT_EQ(turns.hold(), 0u);
  EXPECT_FALSE(turns.held());
}

TEST(RankTurnsTest, ARoundMayAgreeOnAHoldThatIsNotKnownYet) {
  RankTurns turns;
  turns.BeginStep();
  turns.HasStep();
  turns.OnRound(2, false);
  EXPECT_EQ(turns.next(), Turn::kStop);
  EXPECT_FALSE(turns.MayBegin());
  turns.Hold(2);
  EXPECT_TRUE(turns.held());
  // Another Hold, which no round has agreed on.
  turns.Hold(4);
  EXPECT_FALSE(turns.held());
}

TEST(RankTurnsTest, AResumeMayComeBeforeTheRoundThatAgreesOnItsHold) {
  RankTurns turns;
  turns.Hold(2);
  turns.Resume(2);
  EXPECT_EQ(turns.next(), Turn::kWait);
  turns.BeginStep();
  turns.HasStep();
  turns.OnRound(2, false);
  EXPECT_EQ(turns.next(), Turn::kBatch);
}

TEST(RankTurnsTest, ALaneWhoseLastStepIsKeptHasNotEnded) {
  RankTurns turns;
  turns.BeginStep();
  turns.HasStep();
  turns.EndLane();
  turns.OnRound(1, false);
  ASSERT_EQ(turns.next(), Turn::kStop);
  turns.EndStep();
  turns.KeepStep();
  turns.Resume(1);
  // If it told the end of its lane now, the others would do the last step
  // without this batch.
  EXPECT_FALSE(turns.lane_ended());
  EXPECT_EQ(turns.next(), Turn::kWait);
  turns.HasStep();
  EXPECT_TRUE(turns.lane_ended());
  EXPECT_EQ(turns.next(), Turn::kBatch);
}

// Ranks that do rounds in step, with Holds and Resumes at random times: no
// round waits for ever, and every step has the batches of one place in the
// lanes.
class RandomRanks {
 public:
  RandomRanks(uint64_t seed, std::vector<std::vector<int>> lanes)
      : lanes_(std::move(lanes)), random_(seed), ranks_(lanes_.size()) {}

  // False: the ranks did not end in time.
  bool Run() {
    for (int event = 0; event < 100'000 && !Ended(); ++event) {
      Act(&ranks_[random_() % ranks_.size()]);
      if (random_() % 40 == 0) ToggleHold();
      DoRound();
    }
    return Ended();
  }
  const std::vector<std::vector<int>>& steps() const { return steps_; }

 private:
  struct Rank {
    RankTurns turns;
    size_t epoch = 0;
    int left = -1;  // batches of the lane that are not begun; -1: none is open
    bool has_step = false;
    bool kept = false;
    uint64_t told = 0;  // the newest Hold or Resume that it got
  };

  size_t IndexOf(const Rank& rank) const { return &rank - ranks_.data(); }
  bool Ended() const {
    return std::all_of(ranks_.begin(), ranks_.end(), [&](const Rank& rank) {
      return rank.epoch == lanes_[0].size() && !rank.has_step && !rank.kept &&
             rank.turns.next() == Turn::kWait;
    });
  }
  // Something that the rank's trainer or the coordinator does.
  void Act(Rank* rank) {
    if (rank->told < holds_ && random_() % 2 == 0) {
      rank->turns.Hold(++rank->told);
      rank->turns.Hold(rank->told);  // Repeats change nothing.
    } else if (resumes_ >= rank->told && random_() % 2 == 0) {
      rank->turns.Resume(rank->told);
      if (rank->kept) {
        rank->kept = false;
        rank->has_step = true;
        rank->turns.HasStep();
      }
    } else if (!rank->has_step && !rank->kept) {
      Train(rank);
    }
    if (rank->turns.next() == Turn::kStop && rank->has_step) {
      rank->has_step = false;
      rank->kept = true;
      rank->turns.EndStep();
      rank->turns.KeepStep();
    }
  }
  void Train(Rank* rank) {
    if (rank->epoch == lanes_[0].size()) return;
    if (rank->left < 0) rank->left = lanes_[IndexOf(*rank)][rank->epoch];
    if (rank->left > 0) {
      --rank->left;
      rank->has_step = true;
      rank->turns.BeginStep();
      rank->turns.HasStep();
      if (rank->left > 0) return;
    }
    rank->turns.EndLane();
    rank->left = -1;
    ++rank->epoch;
  }
  void ToggleHold() {
    if (resumes_ < holds_) {
      resumes_ = holds_;
    } else {
      ++holds_;
    }
  }
  // Does a round if all ranks do one.
  void DoRound() {
    uint64_t hold = 0;
    bool lanes_ended = true;
    bool step = true;
    std::vector<int> batches;
    for (const Rank& rank : ranks_) {
      const Turn turn = rank.turns.next();
      if (turn != Turn::kBatch && turn != Turn::kNoBatch) return;
      hold = std::max(hold, rank.turns.hold());
      lanes_ended &= rank.turns.lane_ended();
      step &= turn == Turn::kBatch || rank.turns.lane_ended();
      if (turn == Turn::kBatch) batches.push_back(IndexOf(rank));
    }
    const bool brought = step && !batches.empty();
    if (brought) steps_.push_back(batches);
    for (Rank& rank : ranks_) {
      const bool ends = brought && rank.turns.next() == Turn::kBatch;
      rank.turns.OnRound(hold, lanes_ended);
      if (!ends) continue;
      rank.has_step = false;
      rank.turns.EndStep();
    }
  }

  const std::vector<std::vector<int>> lanes_;  // by rank and epoch: batches
  std::mt19937_64 random_;
  std::vector<Rank> ranks_;
  uint64_t holds_ = 0;
  uint64_t resumes_ = 0;
  std::vector<std::vector<int>> steps_;  // which ranks brought a batch
};

TEST(RankTurnsTest, HoldsAtRandomTimesLeaveTheStepsAsTheyAre) {
  const std::vector<std::vector<int>> steps = {
      {0, 1, 2}, {0, 2}, {2}, {2},  // epoch 0
      {0, 1},                       // epoch 1
      {0, 1, 2}, {0, 1, 2}};        // epoch 2
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    RandomRanks ranks(seed, {{2, 1, 2}, {1, 1, 2}, {4, 0, 2}});
    ASSERT_TRUE(ranks.Run()) << "seed " << seed;
    EXPECT_EQ(ranks.steps(), steps) << "seed " << seed;
  }
}

}  // namespace
}  // namespace shoal
