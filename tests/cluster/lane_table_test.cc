#include "cluster/lane_table.h"

#include <optional>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Two ranks and two epochs of five pieces of two batches each, in their listed
// order: each rank gets two whole pieces and every second batch of piece 4.
class LaneTableTest : public testing::Test {
 protected:
  LaneTableTest() {
    leases_.num_epochs = 2;
    leases_.num_pieces = 5;
    leases_.shuffle = false;
    lanes_.ranks = {{kRank0, 0}, {kRank1, 0}};
    Restart();
  }

  static constexpr Life kRank0{1, 7};
  static constexpr Life kRank1{1, 3};

  void Restart() {
    table_.emplace(leases_, lanes_);
    trained_.assign(leases_.num_pieces, {});
  }
  void Deal(uint32_t epoch = 0) {
    const absl::Status dealt = table_->Deal(epoch, trained_);
    EXPECT_TRUE(dealt.ok()) << dealt;
  }
  std::optional<HeldLease> Take(Life rank) {
    return table_->Take(rank, 0, ++number_, now_);
  }
  // The lease that the worker gets for what was taken.
  Lease Shaped(const HeldLease& held) const {
    Lease lease;
    lease.piece.index = held.piece;
    lease.skip = trained_[held.piece].batches;
    table_->Shape(held.number, &lease);
    return lease;
  }
  // A rank trains its whole lane. Returns the leases.
  std::vector<Lease> Run(Life rank) {
    std::vector<Lease> leases;
    while (const auto held = Take(rank)) {
      leases.push_back(Shaped(*held));
      table_->Done(held->number, rank, now_);
    }
    return leases;
  }
  static std::vector<uint32_t> PiecesOf(const std::vector<Lease>& leases) {
    std::vector<uint32_t> pieces;
    for (const Lease& lease : leases) pieces.push_back(lease.piece.index);
    return pieces;
  }

  LeaseTableOptions leases_;
  LaneOptions lanes_;
  std::vector<PieceTrained> trained_;
  std::optional<LaneTable> table_;
  uint64_t number_ = 0;
  absl::Time now_ = absl::UnixEpoch();
};

TEST_F(LaneTableTest, NothingIsLeasedBeforeTheEpochIsDealt) {
  EXPECT_TRUE(table_->ended());
  EXPECT_TRUE(table_->NeedsDeal(0, false));
  EXPECT_TRUE(table_->NothingToTake(now_));
  EXPECT_EQ(Take(kRank0), std::nullopt);
  Deal();
  EXPECT_FALSE(table_->NothingToTake(now_));
  EXPECT_FALSE(table_->NeedsDeal(0, true)) << "lanes are open";
  EXPECT_THAT(table_->open_lanes(), ElementsAre(0, 1));
}

// The plant "deal by arrival" gives a rank the next piece of any lane.
TEST_F(LaneTableTest, ALaneDoesNotDependOnTheOrderOfRequests) {
  Deal();
  EXPECT_THAT(PiecesOf(Run(kRank1)), ElementsAre(1, 3, 4));
  EXPECT_THAT(PiecesOf(Run(kRank0)), ElementsAre(0, 2, 4));
  Restart();
  Deal();
  const auto first = Take(kRank0);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->piece, 0u);
  EXPECT_THAT(PiecesOf(Run(kRank1)), ElementsAre(1, 3, 4));
}

TEST_F(LaneTableTest, ALeaseSaysWhichBatchesAndWhetherItIsItsLanesLast) {
  Deal();
  const std::vector<Lease> leases = Run(kRank1);
  ASSERT_THAT(leases, SizeIs(3));
  EXPECT_EQ(leases[0].stride, 1u);
  EXPECT_FALSE(leases[0].last_of_lane);
  EXPECT_FALSE(leases[1].last_of_lane);
  EXPECT_EQ(leases[2].stride, 2u);
  EXPECT_EQ(leases[2].offset, 1u);
  EXPECT_TRUE(leases[2].last_of_lane);
}

TEST_F(LaneTableTest, AFileThatCannotBeCutIsReadByAllRanks) {
  leases_.num_pieces = 1;
  lanes_.uncut = {true};
  Restart();
  Deal();
  for (const Life rank : {kRank0, kRank1}) {
    const std::vector<Lease> leases = Run(rank);
    ASSERT_THAT(leases, SizeIs(1));
    EXPECT_EQ(leases[0].stride, 2u);
    EXPECT_EQ(leases[0].offset, rank == kRank0 ? 0u : 1u);
    EXPECT_TRUE(leases[0].last_of_lane);
  }
}

TEST_F(LaneTableTest, PiecesOfAHostGoToItsRanks) {
  leases_.hosts = {0, 0, 1, 1, 1};
  lanes_.ranks = {{kRank0, 0}, {kRank1, 1}};
  Restart();
  Deal();
  EXPECT_THAT(PiecesOf(Run(kRank0)), ElementsAre(0, 1));
  EXPECT_THAT(PiecesOf(Run(kRank1)), ElementsAre(2, 3, 4));
}

TEST_F(LaneTableTest, APieceOfAHostWithoutARankCannotBeDealt) {
  leases_.hosts = {0, 0, 0, 0, 5};
  Restart();
  EXPECT_EQ(table_->Deal(0, trained_).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(LaneTableTest, ARankThatIsNoRankGetsNothing) {
  Deal();
  EXPECT_EQ(Take({1, 99}), std::nullopt);
}

TEST_F(LaneTableTest, ALaneEndsWhenItsRankHasDoneWithIt) {
  Deal();
  Run(kRank0);
  EXPECT_THAT(table_->open_lanes(), ElementsAre(1));
  std::vector<uint64_t> numbers;
  while (const auto held = Take(kRank1)) numbers.push_back(held->number);
  EXPECT_TRUE(table_->NothingToTake(now_));
  EXPECT_THAT(table_->open_lanes(), ElementsAre(1)) << "leases are held";
  for (const uint64_t number : numbers) {
    EXPECT_FALSE(table_->ended());
    table_->Done(number, kRank0, now_);
    EXPECT_NE(table_->Find(number), nullptr) << "it is another rank's";
    // The piece may be complete by then: the rank has not said so.
    table_->Complete(0, table_->Find(number)->piece);
    table_->Done(number, kRank1, now_);
    table_->Done(number, kRank1, now_);
  }
  EXPECT_TRUE(table_->ended());
  EXPECT_THAT(table_->open_lanes(), IsEmpty());
  EXPECT_THAT(table_->held(), IsEmpty());
}

TEST_F(LaneTableTest, ALeaseNeverRunsOutAndIsGivenToNoOtherRank) {
  Deal();
  const auto held = Take(kRank0);
  ASSERT_TRUE(held.has_value());
  table_->Suspend(kRank0);
  table_->EndOwner(kRank0);
  now_ += absl::Hours(1000);
  table_->Expire(now_);
  EXPECT_NE(table_->Find(held->number), nullptr);
  EXPECT_THAT(PiecesOf(Run(kRank1)), ElementsAre(1, 3, 4));
  EXPECT_FALSE(table_->shared());
  const auto piece = table_->Failed(held->number, kRank0);
  ASSERT_TRUE(piece.has_value());
  EXPECT_EQ(piece->second, 0u);
  EXPECT_TRUE(table_->FailedOnAll(0, 0, {kRank0}));
  EXPECT_EQ(table_->Failed(held->number, kRank1), std::nullopt);
}

TEST_F(LaneTableTest, TheNextEpochWaitsForTheLanesAndTheMarksOfThisOne) {
  Deal();
  Run(kRank0);
  EXPECT_FALSE(table_->NeedsDeal(1, true)) << "lane 1 is open";
  Run(kRank1);
  EXPECT_FALSE(table_->NeedsDeal(0, false)) << "marks are on their way";
  EXPECT_TRUE(table_->NeedsDeal(1, false));
  Deal(1);
  EXPECT_EQ(Take(kRank0)->epoch, 1u);
  Run(kRank0);
  Run(kRank1);
  EXPECT_FALSE(table_->NeedsDeal(2, true)) << "there are two epochs";
}

TEST_F(LaneTableTest, NoEpochIsDealtBeyondTheLimit) {
  table_->SetLimit(0);
  EXPECT_FALSE(table_->NeedsDeal(0, false));
  table_->SetLimit(1);
  EXPECT_TRUE(table_->NeedsDeal(0, false));
  EXPECT_FALSE(table_->NeedsDeal(1, false));
}

TEST_F(LaneTableTest, BatchesThatWereDroppedAreDealtAgain) {
  Deal();
  Run(kRank0);
  Run(kRank1);
  // Batch 0 of piece 1 and batch 1 of piece 4 were dropped from their steps.
  for (uint32_t piece : {0, 2, 3}) trained_[piece] = {true, {3}, 2};
  trained_[1] = {false, {2}, 2};
  trained_[4] = {false, {1}, 2};
  ASSERT_TRUE(table_->NeedsDeal(0, true));
  Deal();
  std::vector<BatchId> batches;
  for (const Life rank : {kRank0, kRank1}) {
    for (const Lease& lease : Run(rank)) {
      for (uint32_t i = 0; i < 2; ++i) {
        if (!lease.Skips(i)) batches.push_back({0, lease.piece.index, i});
      }
    }
  }
  EXPECT_THAT(batches, ElementsAre(BatchId{0, 1, 0}, BatchId{0, 4, 1}));
  EXPECT_TRUE(table_->ended());
}

TEST_F(LaneTableTest, AResumedEpochKeepsItsDeal) {
  // Step 0 was done: batch 0 of pieces 0 and 1.
  trained_[0] = {false, {1}, std::nullopt};
  trained_[1] = {false, {1}, std::nullopt};
  Deal();
  const std::vector<Lease> lane = Run(kRank1);
  EXPECT_THAT(PiecesOf(lane), ElementsAre(1, 3, 4));
  EXPECT_TRUE(lane[0].Skips(0));
  EXPECT_FALSE(lane[0].Skips(1));
}

// A checkpoint of a mode without lanes may have batches of several epochs. The
// plant "all batches of a later epoch are dealt" leaves trained_ empty there.
TEST_F(LaneTableTest, WhatALaterEpochHasTrainedIsNotDealtInIt) {
  trained_[1].batches = {0b01};
  Deal();
  Run(kRank0);
  Run(kRank1);
  trained_.assign(leases_.num_pieces, {});
  trained_[0] = {.complete = true, .num_batches = 2};
  trained_[3] = {.batches = {0b10}, .num_batches = 2};
  ASSERT_TRUE(table_->NeedsDeal(1, true));
  Deal(1);
  // What is left: piece 3's batch 0, and pieces 1, 2 and 4.
  std::vector<int> times(5);
  for (const Life rank : {kRank0, kRank1}) {
    for (const Lease& lease : Run(rank)) {
      for (uint32_t batch = 0; batch < 2; ++batch) {
        if (!lease.Skips(batch)) ++times[lease.piece.index];
      }
    }
  }
  EXPECT_THAT(times, ElementsAre(0, 2, 2, 1, 2));
}

TEST_F(LaneTableTest, AResumedEpochWithADroppedBatchIsDealtAgain) {
  // Piece 0 is done, and of piece 1 the first batch was dropped.
  trained_[0] = {true, {3}, 2};
  trained_[1] = {false, {2}, std::nullopt};
  Deal();
  std::vector<uint32_t> pieces = PiecesOf(Run(kRank0));
  EXPECT_THAT(pieces, ElementsAre(2, 4)) << "those with least trained first";
  EXPECT_THAT(PiecesOf(Run(kRank1)), ElementsAre(3, 1));
}

TEST_F(LaneTableTest, ARankWithoutABatchGetsALeaseThatEndsItsLane) {
  leases_.num_pieces = 1;
  lanes_.uncut = {true};
  Restart();
  trained_[0] = {false, {1}, 2};  // one batch is left
  Deal();
  // By index it is rank 1's; step 0 was not done by both, so it is in turn.
  EXPECT_THAT(Run(kRank0), SizeIs(1));
  EXPECT_THAT(table_->open_lanes(), SizeIs(1));
  const std::vector<Lease> empty = Run(kRank1);
  ASSERT_THAT(empty, SizeIs(1));
  EXPECT_TRUE(empty[0].last_of_lane);
  EXPECT_TRUE(empty[0].empty());
  for (uint32_t i = 0; i < 100; ++i) EXPECT_TRUE(empty[0].Skips(i));
  EXPECT_THAT(table_->open_lanes(), IsEmpty());
}

// The plant "leases of the old generation stay" deals piece 0 to nobody else.
TEST_F(LaneTableTest, RegroupedRanksAreDealtWhatIsLeft) {
  Deal();
  const auto lost = Take(kRank1);
  ASSERT_TRUE(lost.has_value());
  const auto kept = Take(kRank0);
  table_->Done(kept->number, kRank0, now_);
  trained_[kept->piece] = {true, {3}, 2};
  table_->Regroup({{kRank0, 0}});
  EXPECT_EQ(table_->Find(lost->number), nullptr);
  EXPECT_FALSE(table_->Holds(kRank1));
  EXPECT_TRUE(table_->ended());
  EXPECT_THAT(table_->open_lanes(), IsEmpty());
  EXPECT_TRUE(table_->NothingToTake(now_));
  ASSERT_TRUE(table_->NeedsDeal(0, false));
  Deal();
  EXPECT_EQ(Take(kRank1), std::nullopt) << "it is no rank any more";
  EXPECT_THAT(PiecesOf(Run(kRank0)), ElementsAre(1, 2, 3, 4));
  table_->Done(lost->number, kRank1, now_);  // late, and of no lease
  EXPECT_TRUE(table_->ended());
}

// As if the ring had never broken.
TEST_F(LaneTableTest, TheSameRanksGoOnWithTheirDeal) {
  Deal();
  for (const Life rank : {kRank0, kRank1}) {
    const auto held = Take(rank);
    trained_[held->piece].batches = {1};  // the first step
  }
  table_->Regroup({{kRank0, 0}, {kRank1, 0}});
  Deal();
  EXPECT_THAT(PiecesOf(Run(kRank0)), ElementsAre(0, 2, 4));
  EXPECT_THAT(PiecesOf(Run(kRank1)), ElementsAre(1, 3, 4));
}

TEST_F(LaneTableTest, WithoutRanksNothingIsLeased) {
  Deal();
  table_->Regroup({});
  EXPECT_TRUE(table_->ended());
  EXPECT_EQ(Take(kRank0), std::nullopt);
  table_->Regroup({{kRank1, 0}});
  Deal();
  EXPECT_THAT(Run(kRank1), SizeIs(5));
}

}  // namespace
}  // namespace shoal
