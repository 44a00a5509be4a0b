#include "coordinator/divergence_watch.h"

#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

constexpr Life kWorker = {1, 1};
constexpr Life kOther = {1, 2};

class DivergenceWatchTest : public testing::Test {
 protected:
  void Batches(int count, bool rejected) {
    for (int i = 0; i < count; ++i) watch_.OnBatch(++step_, rejected);
  }
  // `worker` has trained so many more batches of 8 examples, with this mean
  // loss.
  void Trains(uint64_t batches, double loss, Life worker = kWorker) {
    TrainProgress& progress = worker == kWorker ? progress_ : other_;
    progress.batches += batches;
    progress.examples += 8 * batches;
    progress.loss_sum += 8 * static_cast<double>(batches) * loss;
    watch_.OnProgress(worker, progress, step_);
  }
  bool diverged() const { return watch_.Verdict().has_value(); }
  bool diverged_at_end() const { return watch_.VerdictAtEnd().has_value(); }

  uint64_t after() const { return watch_.Verdict()->after; }

  DivergenceWatch watch_;
  uint64_t step_ = 0;  // the job's
  TrainProgress progress_;
  TrainProgress other_;
};

TEST_F(DivergenceWatchTest, AWatchWithoutBatchesHasNoVerdict) {
  EXPECT_FALSE(diverged());
  EXPECT_FALSE(diverged_at_end());
}

TEST_F(DivergenceWatchTest, HalfOfTheNewestHundredRejectedIsDiverged) {
  Batches(1000, false);
  Batches(49, true);
  EXPECT_FALSE(diverged());
  Batches(1, true);
  const auto verdict = watch_.Verdict();
  ASSERT_TRUE(verdict.has_value());
  EXPECT_THAT(verdict->why, HasSubstr("50 of its newest 100 batches were "
                                      "rejected"));
  EXPECT_EQ(verdict->after, 1000u);
}

TEST_F(DivergenceWatchTest, RejectedBatchesThatAreHistoryCountNoMore) {
  Batches(49, true);
  Batches(60, false);
  Batches(49, true);  // 40 of the first 49 have left the window
  EXPECT_FALSE(diverged());
  for (int i = 0; i < 10000; ++i) Batches(1, i % 3 == 0);
  EXPECT_FALSE(diverged());
}

TEST_F(DivergenceWatchTest, FewerThanAHundredAreJudgedAtTheEndAlone) {
  Batches(9, true);
  EXPECT_FALSE(diverged_at_end());
  Batches(10, false);
  EXPECT_FALSE(diverged_at_end());
  Batches(80, true);
  EXPECT_FALSE(diverged());
  EXPECT_TRUE(diverged_at_end());
  Batches(1, true);
  EXPECT_TRUE(diverged());
}

TEST_F(DivergenceWatchTest, AMeanLossAboveTenIsDiverged) {
  Trains(99, 11);
  EXPECT_FALSE(diverged());
  EXPECT_TRUE(diverged_at_end());
  Trains(1, 11);
  const auto verdict = watch_.Verdict();
  ASSERT_TRUE(verdict.has_value());
  EXPECT_THAT(verdict->why, HasSubstr("the mean loss of its newest 100 batches "
                                      "is 11, above 10"));
}

TEST_F(DivergenceWatchTest, AMeanLossOfTenIsNot) {
  Trains(100, 10);
  EXPECT_FALSE(diverged());
  Trains(100, 9.99);
  EXPECT_FALSE(diverged());
}

TEST_F(DivergenceWatchTest, OnlyTheNewestReportsCountAndAReportCountsWhole) {
  Trains(1000, 0.5);
  Trains(99, 1000);
  EXPECT_TRUE(diverged()) << "the mean is 90";
  EXPECT_THAT(watch_.Verdict()->why, HasSubstr("newest 1099 batches"));
  Trains(2, 1000);
  EXPECT_THAT(watch_.Verdict()->why, HasSubstr("newest 101 batches"));
  Trains(100, 0.5);
  EXPECT_FALSE(diverged()) << "it came back before the verdict was asked for";
}

TEST_F(DivergenceWatchTest, TheReportsOfAllWorkersCount) {
  Trains(60, 1);
  Trains(60, 20, kOther);
  EXPECT_TRUE(diverged()) << "the mean is 10.5";
  watch_.End(kOther);
  // Another life begins its sums anew.
  other_ = {};
  Trains(1, 1, {1, 3});
  EXPECT_THAT(watch_.Verdict()->why, HasSubstr("newest 121 batches"));
}

TEST_F(DivergenceWatchTest, ALossThatIsNotFiniteIsDiverged) {
  for (const double bad : {std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN(),
                           -std::numeric_limits<double>::infinity()}) {
    watch_ = {};
    progress_ = {};
    Trains(99, 0.5);
    Trains(1, bad);
    EXPECT_TRUE(diverged()) << bad;
  }
}

TEST_F(DivergenceWatchTest, AReportThatComesTwiceOrLateCountsOnce) {
  Trains(60, 20);
  const TrainProgress late = progress_;
  watch_.OnProgress(kWorker, late, step_);
  EXPECT_FALSE(diverged());
  Trains(60, 0);
  watch_.OnProgress(kWorker, late, step_);
  EXPECT_FALSE(diverged()) << "the mean is 10";
}

// ---- The first bad batch

TEST_F(DivergenceWatchTest, TheFirstBadBatchIsTheOldestRejectedOne) {
  step_ = 500;  // of a checkpoint
  Batches(3, false);
  Batches(96, true);
  EXPECT_FALSE(diverged());
  Batches(1, true);
  EXPECT_EQ(after(), 503u);
}

TEST_F(DivergenceWatchTest, AtTheEndOfAShortRunTooTheFirstBadBatchIsKnown) {
  Batches(5, false);
  Batches(8, true);
  EXPECT_EQ(watch_.VerdictAtEnd()->after, 5u);
}

TEST_F(DivergenceWatchTest, TheBatchesOfABadReportBeganAtTheReportBefore) {
  Batches(200, false);
  watch_.OnLease(kWorker, step_);
  Batches(150, false);
  Trains(140, 0.5);
  // Counted in steps of the job, and another worker's batches are there too.
  Batches(1000, false);
  Trains(90, 5000);
  EXPECT_EQ(after(), 350u);
}

TEST_F(DivergenceWatchTest, TheFirstReportBeganAtTheFirstLease) {
  Batches(200, false);
  watch_.OnLease(kWorker, step_);
  Batches(150, false);
  watch_.OnLease(kWorker, step_);
  Trains(140, 5000);
  EXPECT_EQ(after(), 200u);
}

TEST_F(DivergenceWatchTest, WhatIsBadByItsLossCountsWithWhatIsRejected) {
  watch_.OnLease(kWorker, step_);
  Batches(200, false);
  Trains(200, 0.5);
  Batches(10, false);
  Trains(10, 5000);
  Batches(50, true);
  EXPECT_EQ(after(), 200u);
}

// ---- Before a verdict

TEST_F(DivergenceWatchTest, HalfOfTheNewestTenRejectedIsNotSound) {
  EXPECT_TRUE(watch_.Sound());
  Batches(1000, false);
  Batches(4, true);
  EXPECT_TRUE(watch_.Sound());
  Batches(1, true);
  EXPECT_FALSE(watch_.Sound());
  EXPECT_FALSE(diverged());
  Batches(5, false);
  EXPECT_FALSE(watch_.Sound());
  Batches(1, false);
  EXPECT_TRUE(watch_.Sound());
}

TEST_F(DivergenceWatchTest, NorAreFewerBatchesOfWhichHalfWereRejected) {
  Batches(2, false);
  Batches(1, true);
  EXPECT_TRUE(watch_.Sound());
  Batches(1, true);
  EXPECT_FALSE(watch_.Sound());
  Batches(20, true);
  Batches(20, false);
  EXPECT_FALSE(watch_.Sound()) << "22 of 44";
  Batches(1, false);
  EXPECT_TRUE(watch_.Sound());
}

TEST_F(DivergenceWatchTest, ABadReportIsNotSoundEither) {
  Trains(1000, 0.5);
  EXPECT_TRUE(watch_.Sound());
  Trains(2, 20);
  EXPECT_FALSE(watch_.Sound());
  EXPECT_FALSE(diverged());
  Trains(1, 0.5);
  EXPECT_TRUE(watch_.Sound());
}

}  // namespace
}  // namespace shoal
