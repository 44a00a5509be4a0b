#include "core/rank_board.h"

#include "gtest/gtest.h"

namespace shoal {
namespace {

using Phase = RankBoard::Phase;

absl::Time At(int seconds) { return absl::FromUnixSeconds(1000 + seconds); }

TEST(RankBoardTest, ARankThatHasToldNothingStandsNowhere) {
  const RankStanding standing = RankBoard().Read(At(9));
  EXPECT_EQ(standing.phase, "");
  EXPECT_EQ(standing.waits_for, -1);
  EXPECT_EQ(standing.seconds, 0);
}

TEST(RankBoardTest, ThePhaseBeginsWhereItIsFirstEntered) {
  RankBoard board;
  board.Enter(Phase::kReads, At(1));
  board.Enter(Phase::kReads, At(4));
  EXPECT_EQ(board.Read(At(6)).phase, "reads");
  EXPECT_EQ(board.Read(At(6)).seconds, 5);
  board.Enter(Phase::kComputes, At(7));
  EXPECT_EQ(board.Read(At(9)).phase, "computes");
  EXPECT_EQ(board.Read(At(9)).seconds, 2);
}

// As a rank without a batch, whose trainer waits for a lease meanwhile.
TEST(RankBoardTest, AnExchangeThatWorksIsThePhaseOfTheRank) {
  RankBoard board;
  board.SetStep(7);
  board.EnterExchange(Phase::kRound, At(1));
  board.Enter(Phase::kLease, At(2));
  EXPECT_EQ(board.Read(At(4)).phase, "sums");
  EXPECT_EQ(board.Read(At(4)).step, 7u);
  EXPECT_EQ(board.Read(At(4)).seconds, 3);
  board.EnterExchange(Phase::kNone, At(5));
  EXPECT_EQ(board.Read(At(6)).phase, "waits for a lease");
  EXPECT_EQ(board.Read(At(6)).seconds, 4);
}

TEST(RankBoardTest, TheOperationOfARoundIsABucketOrTheRows) {
  RankBoard board;
  board.SetRound(9, /*rows=*/true);
  board.EnterExchange(Phase::kRound, At(0));
  board.WaitFor(/*index=*/2, /*rank=*/0);
  EXPECT_EQ(board.Read(At(1)).phase, "sums");
  EXPECT_EQ(board.Read(At(1)).tensor, "dense bucket 3 of 9");
  EXPECT_EQ(board.Read(At(1)).waits_for, 0);
  board.WaitFor(9, 4);
  EXPECT_EQ(board.Read(At(1)).phase, "gathers");
  EXPECT_EQ(board.Read(At(1)).tensor, "rows");
  EXPECT_EQ(board.Read(At(1)).waits_for, 4);
  // Once more, without a rejected batch.
  board.WaitFor(10, 4);
  EXPECT_EQ(board.Read(At(1)).tensor, "dense bucket 1 of 9");
  board.WaitForNone();
  EXPECT_EQ(board.Read(At(1)).phase, "sums");
  EXPECT_EQ(board.Read(At(1)).tensor, "");
  EXPECT_EQ(board.Read(At(1)).waits_for, -1);
}

// A hybrid: the rows go to servers.
TEST(RankBoardTest, ARankWaitsForTheRowsOfAnother) {
  RankBoard board;
  board.SetRound(9, /*rows=*/false);
  board.EnterExchange(Phase::kRound, At(0));
  board.WaitFor(9, 2);
  EXPECT_EQ(board.Read(At(1)).tensor, "batches");
  board.EnterExchange(Phase::kPushesRows, At(0));
  EXPECT_EQ(board.Read(At(1)).phase, "pushes");
  EXPECT_EQ(board.Read(At(1)).tensor, "rows to the servers");
  EXPECT_EQ(board.Read(At(1)).waits_for, -1) << "that is a rank";
  board.EnterExchange(Phase::kConfirms, At(0));
  board.WaitFor(/*index=*/10, /*rank=*/2);
  EXPECT_EQ(board.Read(At(1)).phase, "confirms");
  EXPECT_EQ(board.Read(At(1)).tensor, "rows");
  EXPECT_EQ(board.Read(At(1)).waits_for, 2);
}

TEST(RankBoardTest, ARankWaitsForAnotherWhileReplicasAreMadeLevel) {
  RankBoard board;
  board.EnterExchange(Phase::kLevels, At(0));
  board.WaitFor(0, 2);
  EXPECT_EQ(board.Read(At(1)).phase, "levels");
  EXPECT_EQ(board.Read(At(1)).tensor, "");
  EXPECT_EQ(board.Read(At(1)).waits_for, 2);
}

}  // namespace
}  // namespace shoal
