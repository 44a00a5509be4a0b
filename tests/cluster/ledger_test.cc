#include "cluster/ledger.h"

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/lease.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// 2 PSs, 2 epochs, 2 pieces, batches of 10.
class LedgerTest : public testing::Test {
 protected:
  LedgerTest() : ledger_({2, 2, 2, 10}) {}

  absl::StatusOr<Ledger::Added> Add(int shard, BatchId batch,
                                    uint64_t lease = 1,
                                    Verdict verdict = Verdict::kApplied) {
    return ledger_.Add(shard, Mark{batch, verdict, lease, false});
  }
  absl::StatusOr<Ledger::Added> Repeat(int shard, BatchId batch,
                                       uint64_t lease) {
    return ledger_.Add(shard, Mark{batch, Verdict::kApplied, lease, true});
  }
  void AddBoth(BatchId batch, uint64_t lease = 1,
               Verdict verdict = Verdict::kApplied) {
    ASSERT_TRUE(Add(0, batch, lease, verdict).ok());
    ASSERT_TRUE(Add(1, batch, lease, verdict).ok());
  }

  Ledger ledger_;
};

TEST_F(LedgerTest, ABatchIsTrainedWhenEveryShardHasMarkedIt) {
  ASSERT_TRUE(ledger_.SetExamples(0, 25).ok());
  ASSERT_TRUE(Add(0, {0, 0, 0}).ok());
  EXPECT_FALSE(ledger_.Complete({0, 0, 0}));
  EXPECT_EQ(ledger_.totals().trained, 0u);
  ASSERT_TRUE(Add(1, {0, 0, 0}).ok());
  EXPECT_TRUE(ledger_.Complete({0, 0, 0}));
  EXPECT_EQ(ledger_.totals().trained, 10u);
  EXPECT_EQ(ledger_.totals().batches, 1u);
}

TEST_F(LedgerTest, CountsTheEpochsThatAreCompleteWithoutAGap) {
  ASSERT_TRUE(ledger_.SetExamples(0, 10).ok());
  ASSERT_TRUE(ledger_.SetExamples(1, 10).ok());
  AddBoth({1, 0, 0});
  AddBoth({1, 1, 0});
  EXPECT_EQ(ledger_.CompleteEpochs(), 0u);
  AddBoth({0, 0, 0});
  EXPECT_EQ(ledger_.CompleteEpochs(), 0u);
  AddBoth({0, 1, 0});
  EXPECT_EQ(ledger_.CompleteEpochs(), 2u);
  ledger_.DropMember(0);
  EXPECT_EQ(ledger_.CompleteEpochs(), 0u);
  EXPECT_EQ(Ledger({2, 3, 0, 10}).CompleteEpochs(), 3u) << "nothing to train";
}

TEST_F(LedgerTest, TheLastBatchCountsWhatItHolds) {
  ASSERT_TRUE(ledger_.SetExamples(0, 25).ok());
  AddBoth({0, 0, 2});
  EXPECT_EQ(ledger_.totals().trained, 5u);
  AddBoth({0, 0, 0});
  const auto last = Add(0, {0, 0, 1});
  EXPECT_FALSE(last->piece_complete);
  EXPECT_TRUE(Add(1, {0, 0, 1})->piece_complete);
  EXPECT_TRUE(ledger_.PieceComplete(0, 0));
  EXPECT_FALSE(ledger_.PieceComplete(1, 0)) << "the next epoch is another";
  EXPECT_EQ(ledger_.totals().trained, 25u);
}

TEST_F(LedgerTest, OfAnOpenPieceTheNewestBatchWaitsForTheReport) {
  AddBoth({0, 0, 0});
  EXPECT_EQ(ledger_.totals().trained, 0u) << "it may be the last and shorter";
  EXPECT_EQ(ledger_.totals().newest, 10u);
  AddBoth({0, 0, 1});
  EXPECT_EQ(ledger_.totals().trained, 10u);
  EXPECT_EQ(ledger_.totals().newest, 10u);
  EXPECT_FALSE(ledger_.PieceComplete(0, 0));
  EXPECT_THAT(*ledger_.SetExamples(0, 12), ElementsAre(0));
  EXPECT_EQ(ledger_.totals().trained, 12u);
  EXPECT_EQ(ledger_.totals().newest, 0u);
  EXPECT_EQ(ledger_.totals().batches, 2u);
}

TEST_F(LedgerTest, AnEmptyPieceIsCompleteInEveryEpoch) {
  EXPECT_THAT(*ledger_.SetExamples(1, 0), ElementsAre(0, 1));
  EXPECT_TRUE(ledger_.PieceComplete(1, 1));
}

TEST_F(LedgerTest, AllPiecesOfAllEpochsCompleteTheJob) {
  ASSERT_TRUE(ledger_.SetExamples(0, 10).ok());
  ASSERT_TRUE(ledger_.SetExamples(1, 20).ok());
  for (uint32_t epoch = 0; epoch < 2; ++epoch) {
    AddBoth({epoch, 0, 0});
    AddBoth({epoch, 1, 0});
    EXPECT_FALSE(ledger_.AllComplete());
    AddBoth({epoch, 1, 1});
  }
  EXPECT_TRUE(ledger_.AllComplete());
  EXPECT_EQ(ledger_.totals().trained, 60u);
  EXPECT_EQ(ledger_.totals().batches, 6u);
}

TEST_F(LedgerTest, RejectedBatchesAreCountedApart) {
  ASSERT_TRUE(ledger_.SetExamples(0, 15).ok());
  AddBoth({0, 0, 0}, 1, Verdict::kRejected);
  AddBoth({0, 0, 1});
  EXPECT_EQ(ledger_.totals().rejected, 10u);
  EXPECT_EQ(ledger_.totals().trained, 5u);
  EXPECT_EQ(ledger_.totals().batches, 2u);
  EXPECT_EQ(ledger_.totals().rejected_batches, 1u);
  EXPECT_EQ(ledger_.totals().batches, 2u);
  EXPECT_TRUE(ledger_.PieceComplete(0, 0));
}

TEST_F(LedgerTest, DifferentVerdictsAreTorn) {
  ASSERT_TRUE(Add(1, {1, 0, 3}).ok());
  const absl::Status status = Add(0, {1, 0, 3}, 1, Verdict::kRejected).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("batch (1,0,3) is torn: ps 0 has rejected it, ps 1 has "
                        "applied it"));
}

TEST_F(LedgerTest, MarksOfTwoPassesAreMendedAndRecomputed) {
  ASSERT_TRUE(Add(0, {0, 0, 0}, 1).ok());
  EXPECT_EQ(ledger_.totals().mended, 0u);
  ASSERT_TRUE(Add(1, {0, 0, 0}, 2).ok());
  EXPECT_EQ(ledger_.totals().mended, 1u);
  EXPECT_EQ(ledger_.totals().recomputed, 1u);
  // The second pass also reached shard 0, which refused it: still one batch.
  ASSERT_TRUE(Repeat(0, {0, 0, 0}, 2).ok());
  EXPECT_EQ(ledger_.totals().recomputed, 1u);
}

TEST_F(LedgerTest, ARepeatOfAnotherPassIsRecomputed) {
  AddBoth({0, 0, 0}, 1);
  ASSERT_TRUE(Repeat(0, {0, 0, 0}, 1).ok());
  EXPECT_EQ(ledger_.totals().recomputed, 0u) << "the same pass, sent again";
  ASSERT_TRUE(Repeat(0, {0, 0, 0}, 2).ok());
  EXPECT_EQ(ledger_.totals().recomputed, 1u);
  EXPECT_EQ(ledger_.totals().mended, 0u);
}

TEST_F(LedgerTest, ARepeatIsCountedAfterThePieceWasComplete) {
  ASSERT_TRUE(ledger_.SetExamples(0, 20).ok());
  AddBoth({0, 0, 0});
  AddBoth({0, 0, 1});
  ASSERT_TRUE(ledger_.PieceComplete(0, 0));
  ASSERT_TRUE(Repeat(1, {0, 0, 1}, 9).ok());
  ASSERT_TRUE(Repeat(0, {0, 0, 1}, 9).ok());
  EXPECT_EQ(ledger_.totals().recomputed, 1u) << "one batch, twice";
  EXPECT_TRUE(ledger_.PieceComplete(0, 0));
  EXPECT_FALSE(Add(0, {0, 0, 1}).ok());
}

TEST_F(LedgerTest, RepeatsRefusedAreTheShardsSums) {
  ledger_.SetRepeatsRefused(0, 3);
  ledger_.SetRepeatsRefused(1, 2);
  ledger_.SetRepeatsRefused(0, 5);
  EXPECT_EQ(ledger_.totals().repeats_refused, 7u);
}

TEST_F(LedgerTest, TellsWhichBatchesToSkip) {
  ASSERT_TRUE(ledger_.SetExamples(0, 120).ok());
  AddBoth({0, 0, 1});
  AddBoth({0, 0, 9});
  ASSERT_TRUE(Add(0, {0, 0, 10}).ok());
  const Lease lease{.skip = ledger_.CompleteBatches(0, 0)};
  for (uint32_t i = 0; i < 12; ++i) {
    EXPECT_EQ(lease.Skips(i), i == 1 || i == 9) << i;
  }
  EXPECT_THAT(ledger_.CompleteBatches(1, 0), IsEmpty());
  EXPECT_DOUBLE_EQ(ledger_.FractionComplete(0, 0), 2.0 / 12);
}

TEST_F(LedgerTest, RefusesMarksThatCannotBe) {
  const auto invalid = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(Add(2, {0, 0, 0}).status().code(), invalid);
  EXPECT_EQ(Add(-1, {0, 0, 0}).status().code(), invalid);
  const auto not_found = absl::StatusCode::kNotFound;
  EXPECT_EQ(Add(0, {2, 0, 0}).status().code(), not_found);
  EXPECT_EQ(Add(0, {0, 2, 0}).status().code(), not_found);
  EXPECT_EQ(Add(0, {0, 0, UINT32_MAX}).status().code(), not_found);
  EXPECT_EQ(Add(0, {0, 0, 0}, 0).status().code(), invalid);
  EXPECT_EQ(Add(0, {0, 0, 0}, uint64_t{1} << 40).status().code(), invalid);
  EXPECT_EQ(Add(0, {0, 0, 0}, 1, static_cast<Verdict>(9)).status().code(),
            invalid);
  EXPECT_EQ(Repeat(0, {0, 0, 0}, 1).status().code(), invalid)
      << "a repeat of nothing";
  ASSERT_TRUE(Add(0, {0, 0, 0}).ok());
  EXPECT_EQ(Add(0, {0, 0, 0}).status().code(), invalid) << "marked twice";
  EXPECT_EQ(ledger_.totals().batches, 0u);
}

TEST_F(LedgerTest, AnUnknownLeaseCompletesABatchAndMendsNothing) {
  ASSERT_TRUE(Add(0, {0, 0, 0}, Ledger::kUnknownLease).ok());
  ASSERT_TRUE(Add(1, {0, 0, 0}, 3).ok());
  ASSERT_TRUE(Add(0, {0, 0, 1}, 3).ok());
  ASSERT_TRUE(Add(1, {0, 0, 1}, Ledger::kUnknownLease).ok());
  EXPECT_EQ(ledger_.totals().batches, 2u);
  EXPECT_EQ(ledger_.totals().mended, 0u);
  ASSERT_TRUE(Repeat(0, {0, 0, 0}, 3).ok());
  EXPECT_EQ(ledger_.totals().recomputed, 1u);
}

TEST_F(LedgerTest, ABatchBeyondThePieceMeansThatTheDataChanged) {
  ASSERT_TRUE(Add(0, {0, 0, 2}).ok());
  EXPECT_EQ(ledger_.SetExamples(0, 20).status().code(),
            absl::StatusCode::kDataLoss);
  ASSERT_TRUE(ledger_.SetExamples(1, 20).ok());
  EXPECT_EQ(Add(0, {0, 1, 2}).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(LedgerTest, ALostShardsMarksAreDropped) {
  ASSERT_TRUE(ledger_.SetExamples(0, 15).ok());
  ASSERT_TRUE(ledger_.SetExamples(1, 30).ok());
  AddBoth({0, 0, 0});
  AddBoth({0, 0, 1}, 1, Verdict::kRejected);
  AddBoth({0, 1, 0});
  ASSERT_TRUE(Add(0, {0, 1, 1}).ok());
  ASSERT_EQ(ledger_.totals().batches, 3u);
  ASSERT_EQ(ledger_.totals().trained, 20u);
  ASSERT_EQ(ledger_.totals().rejected, 5u);
  ASSERT_EQ(ledger_.totals().rejected_batches, 1u);

  EXPECT_THAT(ledger_.DropMember(1), ElementsAre(Pair(0, 0)))
      << "piece 1 was not complete: it is leasable anyhow";
  EXPECT_EQ(ledger_.totals().batches, 0u);
  EXPECT_EQ(ledger_.totals().trained, 0u);
  EXPECT_EQ(ledger_.totals().rejected, 0u);
  EXPECT_EQ(ledger_.totals().rejected_batches, 0u);
  EXPECT_FALSE(ledger_.PieceComplete(0, 0));
  // The shard gets them again; the other shard has them still.
  ASSERT_TRUE(Add(1, {0, 0, 0}, 5).ok());
  EXPECT_EQ(Add(1, {0, 0, 1}, 5).status().code(), absl::StatusCode::kDataLoss)
      << "the other shard's verdict is remembered";
  EXPECT_FALSE(Add(0, {0, 0, 0}, 5).ok());
  EXPECT_EQ(ledger_.totals().trained, 10u);
  ASSERT_TRUE(Add(1, {0, 1, 0}, 5).ok());
  EXPECT_EQ(ledger_.totals().trained, 20u);
}

TEST(LedgerOfOneShardTest, ADroppedVerdictMayBecomeAnother) {
  Ledger ledger({1, 1, 1, 10});
  ASSERT_TRUE(ledger.SetExamples(0, 10).ok());
  ASSERT_TRUE(
      ledger.Add(0, Mark{{0, 0, 0}, Verdict::kRejected, 1, false}).ok());
  EXPECT_TRUE(ledger.AllComplete());
  EXPECT_THAT(ledger.DropMember(0), ElementsAre(Pair(0, 0)));
  EXPECT_FALSE(ledger.AllComplete());
  ASSERT_TRUE(ledger.Add(0, Mark{{0, 0, 0}, Verdict::kApplied, 2, false}).ok());
  EXPECT_EQ(ledger.totals().trained, 10u);
  EXPECT_EQ(ledger.totals().rejected, 0u);
  EXPECT_TRUE(ledger.AllComplete());
}

TEST_F(LedgerTest, HalfMarkedBatchesAreListedAndLeasedAlone) {
  EXPECT_THAT(ledger_.HalfMarked(), IsEmpty());
  AddBoth({0, 0, 0});
  ASSERT_TRUE(Add(0, {0, 0, 3}).ok());
  ASSERT_TRUE(Add(1, {1, 1, 9}).ok());
  EXPECT_THAT(ledger_.HalfMarked(), ElementsAre(Pair(0, 0), Pair(1, 1)));
  Lease lease;
  lease.skip = ledger_.AllButHalfMarked(0, 0);
  lease.skip_rest = true;
  for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(lease.Skips(i), i != 3) << i;
  lease.skip = ledger_.AllButHalfMarked(1, 1);
  for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(lease.Skips(i), i != 9) << i;
  ASSERT_TRUE(Add(1, {0, 0, 3}).ok());
  EXPECT_THAT(ledger_.HalfMarked(), ElementsAre(Pair(1, 1)));
}

TEST_F(LedgerTest, HalfRejectedBatchesAreThoseThatAShardLacks) {
  Lease lease;
  lease.rejected = ledger_.HalfRejected(0, 0);
  EXPECT_FALSE(lease.Rejected(0));
  AddBoth({0, 0, 1}, 1, Verdict::kRejected);
  ASSERT_TRUE(Add(0, {0, 0, 2}).ok());
  ASSERT_TRUE(Add(0, {0, 0, 70}, 1, Verdict::kRejected).ok());
  ASSERT_TRUE(Add(1, {0, 0, 3}, 1, Verdict::kRejected).ok());
  lease.rejected = ledger_.HalfRejected(0, 0);
  for (uint32_t i = 0; i < 200; ++i) {
    EXPECT_EQ(lease.Rejected(i), i == 3 || i == 70) << i;
  }
  // A mark of batch 1 is left, and no mark of batch 70.
  ledger_.DropMember(0);
  lease.rejected = ledger_.HalfRejected(0, 0);
  for (uint32_t i = 0; i < 200; ++i) {
    EXPECT_EQ(lease.Rejected(i), i == 1 || i == 3) << i;
  }
}

TEST_F(LedgerTest, LoadedMarksAreAsIfTheyHadBeenMade) {
  ASSERT_TRUE(ledger_.SetExamples(0, 25).ok());
  const std::vector<MarkRun> runs = {{0, 0, 0, 2, Verdict::kApplied},
                                     {0, 0, 2, 3, Verdict::kRejected},
                                     {1, 0, 1, 2, Verdict::kApplied}};
  EXPECT_THAT(*ledger_.Restore(runs), ElementsAre(Pair(0, 0)));
  EXPECT_EQ(ledger_.totals().trained, 30u);
  EXPECT_EQ(ledger_.totals().rejected, 5u);
  EXPECT_EQ(ledger_.totals().batches, 4u);
  EXPECT_EQ(ledger_.totals().mended, 0u);
  ledger_.SetEarlier(1, 2, 3);
  EXPECT_EQ(ledger_.totals().mended, 1u);
  EXPECT_EQ(ledger_.totals().recomputed, 2u);
  EXPECT_EQ(ledger_.totals().repeats_refused, 3u);
  ASSERT_TRUE(Repeat(0, {0, 0, 1}, 9).ok()) << "it is marked";
  EXPECT_FALSE(Add(0, {1, 0, 1}).ok());
}

// Verdicts of a piece's batches, -1: no mark.
std::vector<MarkRun> RunsOf(uint32_t epoch, uint32_t piece,
                            const std::vector<int>& verdicts) {
  std::vector<MarkRun> runs;
  for (uint32_t i = 0; i < verdicts.size(); ++i) {
    if (verdicts[i] < 0) continue;
    const auto verdict = static_cast<Verdict>(verdicts[i]);
    if (i > 0 && verdicts[i - 1] == verdicts[i]) {
      ++runs.back().end;
    } else {
      runs.push_back({epoch, piece, i, i + 1, verdict});
    }
  }
  return runs;
}

// Runs of any lengths and verdicts, of pieces that are known and not.
TEST(LedgerRestoreTest, RunsAreAsTheirMarksOneByOne) {
  constexpr uint32_t kPieces = 3;
  constexpr int kShards = 3;
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    Ledger by_runs({kShards, 2, kPieces, 10});
    Ledger by_marks({kShards, 2, kPieces, 10});
    std::vector<MarkRun> runs;
    for (uint32_t piece = 0; piece < kPieces; ++piece) {
      const uint32_t batches = 1 + random() % 300;
      if (random() % 4 != 0) {
        const uint64_t examples = batches * 10 - random() % 10;
        ASSERT_TRUE(by_runs.SetExamples(piece, examples).ok());
        ASSERT_TRUE(by_marks.SetExamples(piece, examples).ok());
      }
      std::vector<int> verdicts(batches);
      const int odds = random() % 4;  // none, one in 100, one in 10, half lack
      const int of[] = {0, 1, 10, 50};
      int verdict = 1;
      for (int& v : verdicts) {
        if (random() % 20 == 0) verdict = 1 + random() % 2;
        v = static_cast<int>(random() % 100) < of[odds] ? -1 : verdict;
      }
      for (const MarkRun& run : RunsOf(0, piece, verdicts)) {
        runs.push_back(run);
      }
      for (int shard = 0; shard < kShards; ++shard) {
        for (uint32_t i = 0; i < batches; ++i) {
          if (verdicts[i] < 0) continue;
          Mark mark{{0, piece, i},
                    static_cast<Verdict>(verdicts[i]),
                    Ledger::kUnknownLease,
                    false};
          ASSERT_TRUE(by_marks.Add(shard, mark).ok());
        }
      }
    }
    const auto complete = by_runs.Restore(runs);
    ASSERT_TRUE(complete.ok()) << complete.status();
    EXPECT_EQ(by_runs.totals().trained, by_marks.totals().trained);
    EXPECT_EQ(by_runs.totals().rejected, by_marks.totals().rejected);
    EXPECT_EQ(by_runs.totals().batches, by_marks.totals().batches);
    EXPECT_EQ(by_runs.totals().rejected_batches,
              by_marks.totals().rejected_batches);
    EXPECT_THAT(by_runs.HalfMarked(), IsEmpty());
    for (uint32_t piece = 0; piece < kPieces; ++piece) {
      ASSERT_EQ(by_runs.PieceComplete(0, piece),
                by_marks.PieceComplete(0, piece));
      ASSERT_EQ(by_runs.CompleteBatches(0, piece),
                by_marks.CompleteBatches(0, piece));
      ASSERT_EQ(by_runs.FractionComplete(0, piece),
                by_marks.FractionComplete(0, piece));
    }
    // And what comes later is taken alike.
    for (uint32_t i = 0; i < 310; i += 7) {
      for (int shard = 0; shard < kShards; ++shard) {
        for (const bool repeat : {false, true}) {
          const Mark mark{{0, 1, i}, Verdict::kApplied, 3, repeat};
          ASSERT_EQ(by_runs.Add(shard, mark).status().code(),
                    by_marks.Add(shard, mark).status().code())
              << i;
        }
      }
    }
    EXPECT_EQ(by_runs.totals().trained, by_marks.totals().trained);
    EXPECT_EQ(by_runs.totals().recomputed, by_marks.totals().recomputed);
    EXPECT_EQ(by_runs.totals().mended, by_marks.totals().mended);
  }
}

// A resume of 2^24 batches in a piece: by marks it would take seconds and
// hundreds of megabytes.
TEST(LedgerRestoreTest, LongRunsAreTakenAsRuns) {
  constexpr uint32_t kBatches = 1 << 24;
  Ledger ledger({8, 1, 2, 1});
  ASSERT_TRUE(ledger.SetExamples(0, kBatches).ok());
  const auto complete =
      ledger.Restore({{0, 0, 0, kBatches, Verdict::kApplied},
                      {0, 1, 5, kBatches, Verdict::kApplied}});
  EXPECT_THAT(*complete, ElementsAre(Pair(0, 0)));
  EXPECT_EQ(ledger.totals().batches, uint64_t{2} * kBatches - 5);
}

TEST_F(LedgerTest, LoadedMarksOutOfOrderAreRefused) {
  for (const std::vector<MarkRun>& runs : std::vector<std::vector<MarkRun>>{
           {{0, 0, 2, 4, Verdict::kApplied}, {0, 0, 3, 5, Verdict::kRejected}},
           {{0, 0, 2, 2, Verdict::kApplied}},
           {{0, 0, 2, 3, Verdict::kApplied},
            {0, 1, 2, 3, Verdict::kApplied},
            {0, 0, 5, 6, Verdict::kApplied}}}) {
    EXPECT_EQ(Ledger({2, 2, 2, 10}).Restore(runs).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(LedgerTest, LoadedMarksOfAnotherJobAreRefused) {
  const std::vector<MarkRun> runs = {{7, 0, 0, 2, Verdict::kApplied}};
  EXPECT_EQ(ledger_.Restore(runs).status().code(), absl::StatusCode::kNotFound);
}

// 3 members that hold copies of one shard: one is lost.
TEST_F(LedgerTest, ALostReplicaCompletesWhatAllOthersHave) {
  ledger_ = Ledger({3, 2, 2, 10});
  ASSERT_TRUE(ledger_.SetExamples(0, 25).ok());
  for (const int member : {0, 2}) ASSERT_TRUE(Add(member, {0, 0, 0}).ok());
  for (const int member : {0, 1, 2}) ASSERT_TRUE(Add(member, {0, 0, 1}).ok());
  ASSERT_TRUE(Add(1, {0, 0, 2}).ok());  // on the lost one alone
  ASSERT_TRUE(Add(0, {1, 0, 0}).ok());
  EXPECT_EQ(ledger_.totals().batches, 1u);
  EXPECT_EQ(ledger_.MarkedBy(0), 3u);
  EXPECT_EQ(ledger_.MarkedBy(1), 2u);
  EXPECT_THAT(ledger_.RemoveMember(1), IsEmpty());
  EXPECT_EQ(ledger_.totals().batches, 2u);
  EXPECT_EQ(ledger_.totals().trained, 20u);
  EXPECT_TRUE(ledger_.Complete({0, 0, 0}));
  EXPECT_FALSE(ledger_.Complete({0, 0, 2}));
  EXPECT_EQ(ledger_.MarkedBy(1), 0u);
  EXPECT_THAT(ledger_.HalfMarked(), ElementsAre(Pair(1, 0)));
  EXPECT_EQ(Add(1, {0, 0, 2}).status().code(),
            absl::StatusCode::kInvalidArgument);
  // The batch is trained again, and it is no repeat.
  ASSERT_TRUE(Add(0, {0, 0, 2}, 9).ok());
  EXPECT_TRUE(Add(2, {0, 0, 2}, 9)->piece_complete);
  EXPECT_EQ(ledger_.totals().trained, 25u);
  EXPECT_EQ(ledger_.totals().mended, 0u);
  EXPECT_EQ(ledger_.totals().recomputed, 0u);
}

TEST_F(LedgerTest, ALostReplicaMayCompleteAPiece) {
  ASSERT_TRUE(ledger_.SetExamples(0, 10).ok());
  ASSERT_TRUE(ledger_.SetExamples(1, 0).ok());
  ASSERT_TRUE(Add(1, {0, 0, 0}, 3, Verdict::kRejected).ok());
  EXPECT_THAT(ledger_.RemoveMember(0), ElementsAre(Pair(0, 0)));
  EXPECT_EQ(ledger_.CompleteEpochs(), 1u);
  EXPECT_EQ(ledger_.totals().rejected_batches, 1u);
  EXPECT_EQ(ledger_.totals().rejected, 10u);
  // The last member stays.
  EXPECT_THAT(ledger_.RemoveMember(1), IsEmpty());
  EXPECT_TRUE(Add(1, {1, 0, 0}).ok());
}

TEST_F(LedgerTest, ReplicasThatAreLeftKeepTheirColumns) {
  ledger_ = Ledger({4, 1, 1, 10});
  for (const int member : {1, 3}) ASSERT_TRUE(Add(member, {0, 0, 7}, 5).ok());
  ledger_.RemoveMember(0);
  ledger_.RemoveMember(2);
  EXPECT_TRUE(ledger_.Complete({0, 0, 7}));
  const absl::Status torn =
      Add(3, {0, 0, 8}, 5).ok()
          ? Add(1, {0, 0, 8}, 5, Verdict::kRejected).status()
          : absl::OkStatus();
  EXPECT_THAT(std::string(torn.message()),
              HasSubstr("ps 1 has rejected it, ps 3 has applied it"));
}

TEST_F(LedgerTest, RestoredMarksCountForEveryMember) {
  ASSERT_TRUE(ledger_.SetExamples(0, 20).ok());
  ASSERT_TRUE(ledger_
                  .Restore({{0, 0, 0, 2, Verdict::kApplied},
                            {0, 1, 0, 3, Verdict::kRejected}})
                  .ok());
  ASSERT_TRUE(Add(1, {1, 0, 0}).ok());
  EXPECT_EQ(ledger_.MarkedBy(0), 5u);
  EXPECT_EQ(ledger_.MarkedBy(1), 6u);
}

}  // namespace
}  // namespace shoal
