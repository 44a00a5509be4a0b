#include "coordinator/training_book.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// 2 PSs, 2 epochs of "a" (100 bytes) and "b" (300), batches of 10.
class TrainingBookTest : public testing::Test {
 protected:
  TrainingBookTest() {
    options_.num_members = 2;
    options_.batch_size = 10;
    options_.leases.num_epochs = 2;
    options_.leases.shuffle = false;
    files_.files = {{"a", 100, 1}, {"b", 300, 2}};
    book_ = Make();
  }

  TrainingBook Make() const {
    return TrainingBook(options_,
                        PieceFacts("training", files_.files,
                                   {{0, 0, 0, 100}, {1, 1, 0, 300}}, 10));
  }

  LeaseTable::Held Take(uint32_t worker = 1) {
    const auto held = book_.leases().Take({1, worker}, 0, ++lease_, now_);
    EXPECT_TRUE(held.has_value());
    return held.value_or(LeaseTable::Held{});
  }
  absl::Status Read(uint32_t piece, uint64_t examples) {
    const auto batches = static_cast<uint32_t>((examples + 9) / 10);
    const auto fresh = book_.Learn(
        {LeasePurpose::kTrain, 0, piece, examples, 0, batches, "", 0});
    EXPECT_TRUE(fresh.ok()) << fresh.status();
    return fresh.ok() && *fresh ? book_.Count(piece) : fresh.status();
  }
  bool Mark1(int shard, BatchId batch, uint64_t lease = 1) {
    const auto fresh =
        book_.AddMark(shard, {batch, Verdict::kApplied, lease, false}, now_);
    EXPECT_TRUE(fresh.ok()) << fresh.status();
    return fresh.ok() && *fresh;
  }
  void MarkBoth(BatchId batch) {
    EXPECT_TRUE(Mark1(0, batch));
    EXPECT_TRUE(Mark1(1, batch));
  }
  // What a checkpoint says of a book of 2 epochs, "a" read and trained once.
  std::shared_ptr<Manifest> Saved() {
    EXPECT_TRUE(Read(0, 10).ok());
    MarkBoth({0, 0, 0});
    auto manifest = std::make_shared<Manifest>();
    manifest->data.sources = files_.files;
    book_.SaveInto(manifest.get());
    book_ = Make();
    return manifest;
  }

  TrainingBookOptions options_;
  FileList files_;
  absl::Time now_ = absl::UnixEpoch();
  uint64_t lease_ = 0;
  TrainingBook book_;
};

TEST_F(TrainingBookTest, ABookOfNothingIsCompleteAndABookOfPiecesIsNot) {
  EXPECT_TRUE(TrainingBook().complete());
  EXPECT_FALSE(TrainingBook().HasNoRow());
  EXPECT_EQ(TrainingBook().FractionDone(), 0);
  EXPECT_FALSE(book_.complete());
}

// ---- Complete once, whichever comes last

TEST_F(TrainingBookTest, APieceIsCompleteByItsLastMark) {
  const LeaseTable::Held held = Take();
  ASSERT_TRUE(Read(held.piece, 10).ok());
  EXPECT_TRUE(Mark1(0, {0, held.piece, 0}));
  EXPECT_NE(book_.leases().Find(held.number), nullptr);
  const Mark repeat{{0, held.piece, 0}, Verdict::kApplied, 2, true};
  EXPECT_FALSE(book_.AddMark(0, repeat, now_).value());
  EXPECT_TRUE(Mark1(1, {0, held.piece, 0}));
  EXPECT_EQ(book_.leases().Find(held.number), nullptr);
  EXPECT_EQ(book_.examples(), 10u);
  EXPECT_EQ(book_.FractionDone(), 100 / 800.0);
}

TEST_F(TrainingBookTest, APieceIsCompleteByTheReportThatItIsRead) {
  const LeaseTable::Held held = Take();
  MarkBoth({0, held.piece, 0});
  EXPECT_NE(book_.leases().Find(held.number), nullptr);
  ASSERT_TRUE(Read(held.piece, 10).ok());
  EXPECT_EQ(book_.leases().Find(held.number), nullptr);
  EXPECT_EQ(book_.FractionDone(), 100 / 800.0);
}

TEST_F(TrainingBookTest, WhatALeaseHasTrainedCountsInTheFraction) {
  const LeaseTable::Held held = Take();
  ASSERT_TRUE(Read(held.piece, 20).ok());
  MarkBoth({0, held.piece, 0});
  EXPECT_EQ(book_.FractionDone(), 50 / 800.0);
}

TEST_F(TrainingBookTest, AllEpochsOfAllPiecesAreTheEnd) {
  ASSERT_TRUE(Read(0, 10).ok());
  ASSERT_TRUE(Read(1, 0).ok()) << "no row: complete at once";
  EXPECT_FALSE(book_.AtEndOfEpoch());
  MarkBoth({0, 0, 0});
  EXPECT_EQ(book_.CompleteEpochs(), 1u);
  EXPECT_TRUE(book_.AtEndOfEpoch());
  EXPECT_FALSE(book_.complete());
  MarkBoth({1, 0, 0});
  EXPECT_TRUE(book_.complete());
  EXPECT_EQ(book_.FractionDone(), 1);
  EXPECT_FALSE(book_.HasNoRow());
}

TEST_F(TrainingBookTest, ABatchOfTheNextEpochIsNotTheEndOfOne) {
  ASSERT_TRUE(Read(0, 20).ok());
  ASSERT_TRUE(Read(1, 0).ok());
  MarkBoth({0, 0, 0});
  MarkBoth({0, 0, 1});
  MarkBoth({1, 0, 0});
  EXPECT_EQ(book_.CompleteEpochs(), 1u);
  EXPECT_FALSE(book_.AtEndOfEpoch());
}

TEST_F(TrainingBookTest, DataWithoutARowAreTold) {
  ASSERT_TRUE(Read(0, 0).ok());
  EXPECT_FALSE(book_.HasNoRow());
  ASSERT_TRUE(Read(1, 0).ok());
  EXPECT_TRUE(book_.HasNoRow());
}

TEST_F(TrainingBookTest, AMarkBeyondThePiecesEndIsDataLoss) {
  MarkBoth({0, 0, 5});
  EXPECT_TRUE(absl::IsDataLoss(Read(0, 10)));
}

// ---- What a worker is given

TEST_F(TrainingBookTest, ALeaseSkipsWhatEveryShardHas) {
  const LeaseTable::Held held = Take();
  MarkBoth({0, held.piece, 0});
  EXPECT_TRUE(Mark1(1, {0, held.piece, 1}));
  const Lease lease = book_.LeaseOf(held);
  EXPECT_TRUE(lease.Skips(0));
  EXPECT_FALSE(lease.Skips(1));
  EXPECT_FALSE(lease.Skips(2));
}

TEST_F(TrainingBookTest, AMendIsOfTheHalfMarkedBatchesAlone) {
  MarkBoth({0, 1, 0});
  EXPECT_TRUE(Mark1(1, {0, 1, 1}));
  EXPECT_THAT(book_.HalfMarked(), ElementsAre(Pair(0, 1)));
  const Lease mend = book_.MendOf(0, 1);
  EXPECT_EQ(mend.piece.index, 1u);
  EXPECT_TRUE(mend.Skips(0));
  EXPECT_FALSE(mend.Skips(1));
  EXPECT_TRUE(mend.Skips(2));
}

// ---- Checkpoints

TEST_F(TrainingBookTest, ABookIsRestoredToWhereItWasSaved) {
  const std::shared_ptr<Manifest> saved = Saved();
  EXPECT_EQ(saved->step, 1u);
  ASSERT_TRUE(book_
                  .StartRestoring(saved, "m/c", files_,
                                  {{0, 0, 0, 1, Verdict::kApplied}})
                  .ok());
  const absl::StatusOr<bool> done = book_.Restore();
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_TRUE(*done);
  EXPECT_EQ(book_.restored_batches(), 1u);
  EXPECT_EQ(book_.restored_epochs(), 1u);
  JobReport report;
  book_.Fill(&report);
  EXPECT_EQ(report.fraction_before, 100 / 800.0);
  EXPECT_EQ(Take().piece, 1u) << "the other one is complete";
}

TEST_F(TrainingBookTest, WhatIsTooMuchForOneEventIsRestoredInParts) {
  const std::shared_ptr<Manifest> saved = Saved();
  saved->data.pieces[0].facts = std::nullopt;
  saved->step = 200'000;
  std::vector<MarkRun> marks;
  for (uint32_t i = 0; i < 200'000; ++i) {
    marks.push_back({0, 0, i, i + 1, Verdict::kApplied});
  }
  marks.push_back({1, 0, 0, 1, Verdict::kApplied});
  ++saved->step;
  ASSERT_TRUE(book_.StartRestoring(saved, "m/c", files_, marks).ok());
  // All runs of a piece at once, then the rest.
  EXPECT_THAT(book_.Restore().value(), false);
  EXPECT_EQ(book_.totals().batches, 200'000u);
  EXPECT_THAT(book_.Restore().value(), true);
  EXPECT_EQ(book_.restored_epochs(), 2u);
}

TEST_F(TrainingBookTest, ACheckpointOfOtherThingsIsRefused) {
  const std::shared_ptr<Manifest> saved = Saved();
  FileList others = files_;
  others.files[0].head_crc32c = 9;
  EXPECT_TRUE(absl::IsFailedPrecondition(
      book_.StartRestoring(saved, "m/c", others, {})));
  ASSERT_TRUE(book_.StartRestoring(saved, "m/c", files_, {}).ok());
  const absl::Status lacks = book_.Restore().status();
  EXPECT_TRUE(absl::IsDataLoss(lacks));
  EXPECT_THAT(std::string(lacks.message()), HasSubstr("m/c is of step 1"));
  book_ = Make();
  ASSERT_TRUE(book_
                  .StartRestoring(saved, "m/c", files_,
                                  {{2, 0, 0, 1, Verdict::kApplied}})
                  .ok());
  EXPECT_THAT(std::string(book_.Restore().status().message()),
              HasSubstr("may grow but not shrink"));
}

// ---- Lanes

// Ranks 7 and 8. A batch that PS 0 alone has is dealt before all others, so
// that a checkpoint does not wait for the end of the epoch.
TEST_F(TrainingBookTest, HalfMarkedBatchesAreDealtFirstToNewRanks) {
  options_.lanes.ranks = {{{1, 7}, 0}, {{1, 8}, 0}};
  book_ = Make();
  ASSERT_TRUE(book_.DealLanes(false).ok());
  Take(7);
  Take(8);
  EXPECT_TRUE(Mark1(0, {0, 1, 2}, 2));
  EXPECT_FALSE(book_.mending()) << "its marks are on their way";
  book_.Regroup({{{1, 7}, 0}, {{1, 9}, 0}});
  EXPECT_TRUE(book_.mending());
  ASSERT_TRUE(book_.DealLanes(true).ok());
  const auto mend = Take(7);
  const auto empty = Take(9);
  EXPECT_TRUE(book_.LeaseOf(empty).empty());
  const Lease lease = book_.LeaseOf(mend);
  EXPECT_EQ(lease.piece.index, 1u);
  EXPECT_TRUE(lease.last_of_lane);
  for (uint32_t i = 0; i < 40; ++i) EXPECT_EQ(lease.Skips(i), i != 2) << i;
  book_.leases().Done(empty.number, {1, 9}, now_);
  book_.leases().Done(mend.number, {1, 7}, now_);
  ASSERT_TRUE(book_.DealLanes(false).ok());
  EXPECT_TRUE(book_.open_lanes().empty()) << "a mark is on its way";
  EXPECT_TRUE(Mark1(1, {0, 1, 2}, mend.number));
  EXPECT_FALSE(book_.mending());
  ASSERT_TRUE(book_.DealLanes(false).ok());
  EXPECT_THAT(book_.open_lanes(), ElementsAre(0, 1));
  const Lease next = book_.LeaseOf(Take(9));
  EXPECT_FALSE(next.skip_rest);
  EXPECT_EQ(book_.totals().mended, 1u);
}

TEST_F(TrainingBookTest, ALostReplicaLeavesTheBook) {
  ASSERT_TRUE(Read(0, 10).ok());
  EXPECT_TRUE(Mark1(0, {0, 0, 0}));
  EXPECT_EQ(book_.MarkedBy(0), 1u);
  book_.RemoveMember(1);
  EXPECT_EQ(book_.FractionDone(), 0.125) << "the piece is complete";
}

}  // namespace
}  // namespace shoal
