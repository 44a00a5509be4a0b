#include "cluster/lease_table.h"

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cluster/piece_order.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::Pair;

constexpr Life kA{1, 1};
constexpr Life kB{1, 2};
constexpr Life kC{1, 3};

absl::Time At(double seconds) {
  return absl::UnixEpoch() + absl::Seconds(seconds);
}

class LeaseTableTest : public testing::Test {
 protected:
  static LeaseTableOptions Options(uint32_t pieces, uint32_t epochs = 1) {
    LeaseTableOptions options;
    options.num_pieces = pieces;
    options.num_epochs = epochs;
    options.shuffle = false;
    options.lease_time = absl::Seconds(10);
    options.speculate_after = absl::Seconds(2);
    return options;
  }

  std::optional<LeaseTable::Held> Take(Life owner, double seconds = 0,
                                       int host = 0) {
    return table_.Take(owner, host, ++numbers_, At(seconds));
  }
  // The piece taken, or -1.
  int Piece(Life owner, double seconds = 0, int host = 0) {
    const auto held = Take(owner, seconds, host);
    return held.has_value() ? static_cast<int>(held->piece) : -1;
  }

  uint64_t numbers_ = 0;
  LeaseTable table_{Options(3)};
};

TEST_F(LeaseTableTest, LeasesEachPieceOnceInOrder) {
  EXPECT_EQ(Piece(kA), 0);
  EXPECT_EQ(Piece(kB), 1);
  EXPECT_EQ(Piece(kA), 2) << "a worker may hold several";
  EXPECT_EQ(Piece(kB), -1);
  EXPECT_EQ(table_.held().size(), 3u);
}

TEST_F(LeaseTableTest, EpochsFollowWithoutABarrierEachInItsOwnOrder) {
  LeaseTableOptions options = Options(4, 2);
  options.shuffle = true;
  options.seed = 5;
  table_ = LeaseTable(options);
  for (uint32_t epoch = 0; epoch < 2; ++epoch) {
    const std::vector<uint32_t> order = ShuffledPieces(5, epoch, 4);
    for (const uint32_t piece : order) {
      const auto held = Take(kA);
      ASSERT_TRUE(held.has_value());
      EXPECT_EQ(held->epoch, epoch);
      EXPECT_EQ(held->piece, piece);
    }
  }
  EXPECT_FALSE(Take(kA).has_value());
}

TEST_F(LeaseTableTest, NothingIsLeasedFromTheLimitOn) {
  table_ = LeaseTable(Options(2, 3));
  table_.SetLimit(1);
  EXPECT_EQ(Piece(kA), 0);
  EXPECT_EQ(Piece(kA), 1);
  EXPECT_EQ(Piece(kB), -1) << "the next epoch";
  table_.EndOwner(kA);
  EXPECT_EQ(Piece(kB), 0) << "what is before the limit is leased again";
  table_.SetLimit(1, 1);
  EXPECT_EQ(Piece(kB), 1);
  EXPECT_EQ(Take(kB)->epoch, 1u);
  EXPECT_FALSE(Take(kB).has_value());
  table_.SetLimit(9);
  EXPECT_EQ(Piece(kB), 1);
  EXPECT_EQ(Take(kB)->epoch, 2u);
  EXPECT_EQ(Piece(kB), 1);
  EXPECT_FALSE(Take(kB).has_value()) << "there are no more epochs";
}

TEST_F(LeaseTableTest, ADeadOwnersPiecesComeFirst) {
  Take(kA);
  Take(kB);
  table_.EndOwner(kA);
  EXPECT_EQ(Piece(kC), 0);
  EXPECT_EQ(Piece(kC), 2);
}

TEST_F(LeaseTableTest, ALeaseRunsOutUnlessItIsRenewed) {
  Take(kA, 0);
  Take(kB, 0);
  table_.Renew(kA, At(8));
  table_.Expire(At(10));
  ASSERT_EQ(table_.held().size(), 1u);
  EXPECT_EQ(table_.held()[0].owner, kA);
  EXPECT_EQ(Piece(kC, 10), 1);
  table_.Expire(At(18));
  EXPECT_EQ(Piece(kC, 18), 0);
}

TEST_F(LeaseTableTest, ADonePieceSettlesUntilItIsComplete) {
  const auto held = Take(kA, 0);
  table_.Done(held->number, kA, At(1));
  Take(kB);
  Take(kB);
  EXPECT_EQ(Piece(kC, 1.5), -1) << "its marks are on their way";
  table_.Complete(0, 0);
  EXPECT_EQ(table_.Find(held->number), nullptr);
  table_.Expire(At(100));
  EXPECT_EQ(Piece(kC, 100), 1) << "the others ran out, not the complete one";
}

TEST_F(LeaseTableTest, ASettlingPieceWhoseMarksStayAwayIsLeasedAgain) {
  const auto held = Take(kA, 0);
  table_.Done(held->number, kA, At(1));
  table_.Renew(kA, At(9));  // its owner lives, but has nothing to do with it
  table_.Expire(At(11));
  EXPECT_EQ(Piece(kB, 11), 0);
}

TEST_F(LeaseTableTest, ADeathAfterDoneDoesNotUnsettle) {
  const auto held = Take(kA, 0);
  table_.Done(held->number, kA, At(1));
  table_.EndOwner(kA);
  EXPECT_EQ(Piece(kB, 2), 1);
}

TEST_F(LeaseTableTest, AnOwnerHoldsTheLeasesThatDoNotSettle) {
  EXPECT_FALSE(table_.Holds(kA));
  const auto first = Take(kA, 0);
  const auto second = Take(kA, 0);
  EXPECT_TRUE(table_.Holds(kA));
  EXPECT_FALSE(table_.Holds(kB));
  table_.Done(first->number, kA, At(1));
  EXPECT_TRUE(table_.Holds(kA)) << "the second";
  table_.Done(second->number, kA, At(1));
  EXPECT_FALSE(table_.Holds(kA));
  const auto third = Take(kA, 2);
  EXPECT_TRUE(table_.Holds(kA));
  table_.Complete(third->epoch, third->piece);
  EXPECT_FALSE(table_.Holds(kA));
}

TEST_F(LeaseTableTest, LateAndForeignWordsAreIgnored) {
  const auto held = Take(kA, 0);
  table_.Done(held->number, kB, At(1));
  EXPECT_FALSE(table_.Find(held->number)->settling);
  EXPECT_FALSE(table_.Failed(held->number, kB).has_value());
  table_.EndOwner(kA);
  table_.Done(held->number, kA, At(1));
  EXPECT_FALSE(table_.Failed(held->number, kA).has_value());
  table_.Progress(held->number, At(1));
  table_.Done(12345, kA, At(1));
  EXPECT_EQ(Piece(kB), 0);
}

TEST_F(LeaseTableTest, AStragglersPieceIsCopiedOnceNothingElseIsLeft) {
  table_ = LeaseTable(Options(2));
  const auto first = Take(kA, 0);
  EXPECT_EQ(Piece(kB, 3), 1) << "a new piece, though piece 0 is slow";
  EXPECT_FALSE(Take(kA, 3).has_value()) << "its own piece is no help";
  const auto copy = Take(kB, 3);
  ASSERT_TRUE(copy.has_value());
  EXPECT_EQ(copy->piece, first->piece);
  EXPECT_TRUE(copy->copy);
  const auto other = Take(kC, 6);
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(other->piece, 1u);
  EXPECT_FALSE(Take(kC, 100).has_value()) << "one copy a piece";
}

TEST_F(LeaseTableTest, ALeaseThatMakesProgressIsNotCopied) {
  table_ = LeaseTable(Options(1));
  const auto held = Take(kA, 0);
  table_.Progress(held->number, At(1.5));
  EXPECT_FALSE(Take(kB, 3).has_value());
  EXPECT_TRUE(Take(kB, 3.5).has_value());
}

TEST_F(LeaseTableTest, TheLongestWithoutProgressIsCopiedFirst) {
  const auto a = Take(kA, 0);
  const auto b = Take(kA, 0);
  const auto c = Take(kA, 0);
  table_.Progress(a->number, At(2));
  table_.Progress(c->number, At(1));
  table_.Progress(b->number, At(3));
  EXPECT_FALSE(Take(kB, 2.9).has_value());
  EXPECT_EQ(Piece(kB, 9), static_cast<int>(c->piece));
  EXPECT_EQ(Piece(kB, 9), static_cast<int>(a->piece));
  EXPECT_EQ(Piece(kB, 9), static_cast<int>(b->piece));
  EXPECT_EQ(Piece(kB, 9), -1);
}

TEST_F(LeaseTableTest, SaysWhenThereIsNothingForAnybody) {
  EXPECT_FALSE(table_.NothingToTake(At(0)));
  const auto first = Take(kA, 0);
  Take(kA, 0);
  Take(kA, 0);
  EXPECT_FALSE(Take(kB, 0).has_value());
  EXPECT_TRUE(table_.NothingToTake(At(1.9)));
  EXPECT_FALSE(table_.NothingToTake(At(2))) << "a copy";
  table_.Done(first->number, kA, At(0));
  EXPECT_FALSE(table_.NothingToTake(At(2)));
  table_.EndOwner(kA);
  EXPECT_FALSE(table_.NothingToTake(At(0))) << "returned pieces";
  EXPECT_EQ(Piece(kB, 0), 1);
  EXPECT_EQ(Piece(kB, 0), 2);
  EXPECT_TRUE(table_.NothingToTake(At(1)));
  table_.Expire(At(10));
  EXPECT_FALSE(table_.NothingToTake(At(10)));
  for (const uint32_t piece : {0u, 1u, 2u}) table_.Complete(0, piece);
  EXPECT_TRUE(table_.NothingToTake(At(100)));
}

TEST_F(LeaseTableTest, WhatWasCompleteBeforehandIsPassedOver) {
  table_ = LeaseTable(Options(3, 4));
  for (const uint32_t piece : {0u, 1u, 2u}) {
    table_.Complete(0, piece);
    table_.Complete(2, piece);
  }
  table_.Complete(1, 1);
  table_.Complete(1, 1);
  for (const auto& [epoch, piece] : std::vector<std::pair<uint32_t, uint32_t>>{
           {1, 0}, {1, 2}, {3, 0}, {3, 1}, {3, 2}}) {
    const auto held = Take(kA);
    ASSERT_TRUE(held.has_value());
    EXPECT_EQ(std::make_pair(held->epoch, held->piece),
              std::make_pair(epoch, piece));
  }
  EXPECT_FALSE(Take(kA).has_value());
}

TEST_F(LeaseTableTest, ASettlingLeaseIsNotCopied) {
  table_ = LeaseTable(Options(1));
  const auto held = Take(kA, 0);
  table_.Done(held->number, kA, At(1));
  EXPECT_FALSE(Take(kB, 9).has_value());
}

TEST_F(LeaseTableTest, ACopyOutlivesItsOriginal) {
  table_ = LeaseTable(Options(1));
  Take(kA, 0);
  const auto copy = Take(kB, 3);
  ASSERT_TRUE(copy.has_value());
  table_.EndOwner(kA);
  EXPECT_FALSE(Take(kC, 4).has_value()) << "the copy has it";
  EXPECT_TRUE(Take(kC, 5).has_value()) << "a copy of the copy";
  table_.Complete(0, 0);
  EXPECT_TRUE(table_.held().empty());
}

TEST_F(LeaseTableTest, APieceThatAWorkerCannotReadGoesToAnother) {
  const auto held = Take(kA);
  EXPECT_THAT(table_.Failed(held->number, kA), testing::Optional(Pair(0, 0)));
  EXPECT_EQ(Piece(kA), 1);
  EXPECT_FALSE(table_.FailedOnAll(0, 0, {kA, kB}));
  const auto again = Take(kB);
  EXPECT_EQ(again->piece, 0u);
  table_.Failed(again->number, kB);
  EXPECT_TRUE(table_.FailedOnAll(0, 0, {kA, kB}));
  EXPECT_FALSE(table_.FailedOnAll(0, 0, {kA, kB, kC}));
  EXPECT_FALSE(table_.FailedOnAll(0, 1, {kA}));
}

TEST_F(LeaseTableTest, ACompletePieceIsNeverLeased) {
  table_.Complete(0, 1);  // it is empty: known before anybody had it
  EXPECT_EQ(Piece(kA), 0);
  EXPECT_EQ(Piece(kA), 2);
  EXPECT_EQ(Piece(kA), -1);
}

TEST_F(LeaseTableTest, APieceOfAHostIsLeasedToThatHostAlone) {
  LeaseTableOptions options = Options(4, /*epochs=*/3);
  options.hosts = {1, 0, 1, 0};
  table_ = LeaseTable(options);
  for (const int piece : {1, 3, 1, 3}) {
    EXPECT_EQ(Piece(kA, 0, /*host=*/0), piece);
  }
  EXPECT_EQ(Piece(kA, 0, 0), -1) << "an epoch ahead of host 1 is enough";
  for (const int piece : {0, 2}) EXPECT_EQ(Piece(kB, 0, /*host=*/1), piece);
  EXPECT_EQ(Piece(kC, 9, 0), 1) << "a copy, on the host that can read it";
  for (const uint32_t piece : {0u, 1u, 2u, 3u}) table_.Complete(0, piece);
  table_.EndOwner(kA);
  for (const int piece : {0, 2, 0, 2, -1}) {
    EXPECT_EQ(Piece(kB, 10, 1), piece) << "not even what a dead worker held";
  }
  EXPECT_EQ(Piece(kC, 10, 0), 1);
}

TEST_F(LeaseTableTest, TellsWhichHostsHaveSomethingNew) {
  LeaseTableOptions options = Options(4);
  options.hosts = {1, 0, 1, 0};
  table_ = LeaseTable(options);
  EXPECT_EQ(table_.TakeNews(), std::vector<int>{LeaseTable::kEveryHost});
  EXPECT_EQ(Piece(kC, 0, /*host=*/2), -1);
  EXPECT_TRUE(table_.TakeNews().empty());
  EXPECT_EQ(Piece(kA, 0, /*host=*/0), 1);
  EXPECT_TRUE(table_.TakeNews().empty()) << "host 1 could have its own before";
  table_.EndOwner(kA);
  EXPECT_EQ(table_.TakeNews(), std::vector<int>{0}) << "what was returned";
}

TEST_F(LeaseTableTest, AHostGoesOnOnceTheOthersEpochIsWhole) {
  LeaseTableOptions options = Options(4, /*epochs=*/3);
  options.hosts = {1, 0, 1, 0};
  table_ = LeaseTable(options);
  for (const int piece : {1, 3, 1, 3, -1}) EXPECT_EQ(Piece(kA, 0, 0), piece);
  for (const uint32_t piece : {1u, 3u}) {
    table_.Complete(0, piece);
    table_.Complete(1, piece);
  }
  table_.Complete(0, 0);
  table_.TakeNews();
  EXPECT_EQ(Piece(kA, 0, 0), -1) << "piece 2 of epoch 0 is not complete";
  table_.Complete(0, 2);
  EXPECT_EQ(table_.TakeNews(), std::vector<int>{LeaseTable::kEveryHost});
  EXPECT_EQ(Piece(kA, 0, 0), 1) << "in epoch 2; host 1 has begun none";
  for (const int piece : {0, 2, 0, 2, -1}) {
    EXPECT_EQ(Piece(kB, 0, 1), piece) << "without its complete epoch 0";
  }
}

TEST_F(LeaseTableTest, WhatASuspendedOwnerHoldsMayBeCopiedAtOnce) {
  table_ = LeaseTable(Options(2));
  EXPECT_EQ(Piece(kA), 0);
  EXPECT_EQ(Piece(kB), 1);
  EXPECT_EQ(Piece(kC), -1) << "it has not stood long enough";
  table_.Suspend(kA);
  const auto copy = Take(kC);
  ASSERT_TRUE(copy.has_value());
  EXPECT_EQ(copy->piece, 0u);
  EXPECT_TRUE(copy->copy) << "from the end: the owner may come back";
  EXPECT_EQ(table_.held().size(), 3u) << "the owner keeps its lease";
}

TEST_F(LeaseTableTest, AnOwnerThatComesBackIsSuspendedNoMore) {
  table_ = LeaseTable(Options(1));
  EXPECT_EQ(Piece(kA), 0);
  table_.Suspend(kA);
  table_.Renew(kA, At(0.5));
  EXPECT_EQ(Piece(kB, 1), -1);
  EXPECT_EQ(Piece(kB, 3), 0) << "as any straggler's";
}

TEST_F(LeaseTableTest, NoPiecesNoLease) {
  table_ = LeaseTable(Options(0, 3));
  EXPECT_FALSE(Take(kA).has_value());
  EXPECT_FALSE(LeaseTable().Take(kA, 0, 1, At(0)).has_value());
}

}  // namespace
}  // namespace shoal
