#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "core/label.h"
#include "gtest/gtest.h"
#include "tests/coordinator/coordinator_state_fixture.h"
#include "tests/models/three_classes.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

// ---- At the end of the job

TEST_F(CoordinatorStateTest, EvaluationFollowsTrainingAndServesWhoWaits) {
  eval_ = {{"e", 50, 3}, {"f", 50, 4}};
  JoinAll();
  Train(3, 10);
  const Lease last = Ask(4);
  Tell(3, LeaseRequest{});  // nothing is left: it waits
  Report(4, last, 10);
  MarkBoth(last, 0);
  const auto grants = Heard<LeaseGrant>(3);
  ASSERT_THAT(grants, SizeIs(2));
  const Lease one = grants.back().lease;
  EXPECT_EQ(one.purpose, LeasePurpose::kEvaluate);
  const Lease two = Ask(4);
  EXPECT_GT(two.number, one.number);
  Report(3, one, 2);
  Tell(3, EvalResult{one.number, 0, one.piece.index, {1, -1}, {1, 0}});
  EXPECT_THAT(Heard<ReportShard>(1), IsEmpty());
  Tell(4, EvalResult{two.number, 0, two.piece.index, {-2}, {0}});
  ASSERT_THAT(Heard<ReportShard>(1), SizeIs(1));
  EXPECT_EQ(state_->Report(now_).eval.examples, 3u);
  EXPECT_DOUBLE_EQ(state_->Report(now_).eval.auc, 1);
}

TEST_F(CoordinatorStateTest, AWorkerThatDiesInAnEvaluationCountsOnce) {
  eval_ = {{"e", 50, 3}};
  JoinAll();
  Train(3, 10);
  Train(3, 10);
  const Lease lease = Ask(3);
  Do(state_->OnSessionEnd(3, absl::UnavailableError("reset"), now_));
  const Lease again = Ask(4);
  EXPECT_EQ(again.piece.index, lease.piece.index);
  Tell(3, EvalResult{lease.number, 0, 0, {1}, {1}});  // its life is over
  Tell(4, EvalResult{again.number, 0, 0, {1, 2}, {1, 0}});
  EXPECT_EQ(state_->Report(now_).eval.examples, 2u);
}

TEST_F(CoordinatorStateTest, ScoresOfAnotherNumberOfExamplesAreDataLoss) {
  eval_ = {{"e", 50, 3}, {"f", 50, 3}};
  for (const bool report_first : {true, false}) {
    Restart();
    JoinAll();
    Train(3, 10);
    Train(3, 10);
    const Lease lease = Ask(3);
    if (report_first) Report(3, lease, 3);
    Tell(3, EvalResult{lease.number, 0, 0, {1, 2}, {1, 0}});
    if (!report_first) Report(3, lease, 3);
    EXPECT_EQ(JobStatus().code(), absl::StatusCode::kDataLoss);
  }
}

TEST_F(CoordinatorStateTest, OnlyEvaluationFilesMeansOnlyEvaluation) {
  train_.clear();
  eval_ = {{"e", 50, 3}};
  JoinAll();
  EXPECT_EQ(Ask(3).purpose, LeasePurpose::kEvaluate);
}

TEST_F(CoordinatorStateTest, AnEvaluationThatIsTooLargeToKeepHasABound) {
  eval_ = {{"e", 50, 3}};
  options_.auc_exact_rows = 1;
  Restart();
  JoinAll();
  Train(3, 10);
  Train(3, 10);
  const Lease lease = Ask(3);
  Tell(3, EvalResult{lease.number, 0, 0, {1, 2}, {0, 1}});
  EXPECT_TRUE(JobStatus().ok()) << JobStatus();
  EXPECT_FALSE(state_->Report(now_).eval.exact_auc);
  EXPECT_EQ(state_->Report(now_).eval.auc, 1);
}

TEST_F(CoordinatorStateTest, NothingEndsBeforeTheEvaluationIsWorkedOut) {
  eval_ = {{"e", 50, 3}};
  scores_at_once_ = false;
  JoinAll();
  Train(3, 10);
  Train(3, 10);
  const Lease lease = Ask(3);
  Tell(3, EvalResult{lease.number, 0, 0, {1, 2}, {0, 1}});
  ASSERT_THAT(to_score_, SizeIs(1));
  Pass(absl::Seconds(3));
  EXPECT_THAT(Heard<ReportShard>(1), IsEmpty());
  ScoreAll();
  EXPECT_THAT(Heard<ReportShard>(1), SizeIs(1));
}

// ---- Results in parts

TEST_F(CoordinatorStateTest, APieceMayComeInAnyNumberOfResults) {
  eval_ = {{"e", 50, 3}};
  JoinAll();
  Train(3, 10);
  Train(3, 10);
  const Lease lease = Ask(3);
  Tell(3, EvalResult{lease.number, 0, 0, {1, 2}, {0, 1}, 0, true});
  Report(3, lease, 3);
  Tell(3, EvalResult{lease.number, 0, 0, {3}, {1}, 2, true});
  EXPECT_THAT(Heard<ReportShard>(1), IsEmpty());
  Tell(3, EvalResult{lease.number, 0, 0, {}, {}, 3, false});
  EXPECT_THAT(Heard<ReportShard>(1), SizeIs(1));
  EXPECT_EQ(state_->Report(now_).eval.examples, 3u);
  EXPECT_EQ(state_->Report(now_).eval.auc, 1);
}

TEST_F(CoordinatorStateTest, AResultWithAGapBreaksTheProtocol) {
  eval_ = {{"e", 50, 3}};
  JoinAll();
  Train(3, 10);
  Train(3, 10);
  const Lease lease = Ask(3);
  Tell(3, EvalResult{lease.number, 0, 0, {1}, {1}, 1, true});
  EXPECT_EQ(ended_.count(3), 1u);
  EXPECT_EQ(Ask(4).piece.index, lease.piece.index);
}

TEST_F(CoordinatorStateTest, WhoTakesOverScoresOnlyWhatIsMissing) {
  eval_ = {{"e", 50, 3}};
  JoinAll();
  Train(3, 10);
  Train(3, 10);
  const Lease lease = Ask(3);
  EXPECT_FALSE(lease.Skips(0));
  Tell(3, EvalResult{lease.number, 0, 0, std::vector<float>(25, 1),
                     std::vector<uint8_t>(25, 1), 0, true});
  Do(state_->OnSessionEnd(3, absl::UnavailableError("reset"), now_));
  const Lease again = Ask(4);
  EXPECT_TRUE(again.Skips(0));
  EXPECT_TRUE(again.Skips(1));
  EXPECT_FALSE(again.Skips(2)) << "half of it is there";
  Tell(4, EvalResult{again.number, 0, 0, std::vector<float>(10, 0),
                     std::vector<uint8_t>(10, 0), 20, false});
  const JobReport report = state_->Report(now_);
  EXPECT_EQ(report.eval.examples, 30u);
  EXPECT_THAT(report.eval.examples_of_worker,
              ElementsAre(Pair(0, 25u), Pair(1, 5u)));
  EXPECT_EQ(report.workers[0].scored, 25u);
  EXPECT_EQ(report.workers[1].scored, 5u);
}

TEST_F(CoordinatorStateTest, APieceWhoseScoresArriveIsNotCopied) {
  eval_ = {{"e", 50, 3}};
  options_.progress_deadline = absl::Seconds(7);
  Restart();
  JoinAll();
  Train(3, 10);
  Train(3, 10);
  const Lease lease = Ask(3);
  Tell(4, LeaseRequest{});
  uint64_t offset = 0;
  for (int i = 0; i < 10; ++i) {
    Pass(absl::Seconds(1));
    Tell(3, EvalResult{lease.number, 0, 0, {1}, {1}, offset++, true});
  }
  EXPECT_TRUE(JobStatus().ok()) << "scores are progress";
  EXPECT_THAT(Heard<LeaseGrant>(4), IsEmpty());
  Pass(options_.speculate_after + absl::Milliseconds(250));
  EXPECT_THAT(Heard<LeaseGrant>(4), SizeIs(1));
  Pass(options_.progress_deadline);
  EXPECT_THAT(Why(), HasSubstr("nothing was trained or scored"));
}

// ---- Between epochs

TEST_F(CoordinatorStateTest, AnEvaluationFollowsEveryEpoch) {
  eval_ = {{"e", 50, 3}};
  options_.num_epochs = 2;
  train_.resize(1);
  Restart();
  JoinAll();
  const Lease first = Ask(3);
  Tell(4, LeaseRequest{});
  EXPECT_THAT(Heard<LeaseGrant>(4), IsEmpty()) << "of the next epoch";
  Report(3, first, 15);
  MarkBoth(first, 0);
  Mark1(1, first, 1);
  EXPECT_THAT(Heard<LeaseGrant>(4), IsEmpty()) << "a mark is missing";
  Mark1(2, first, 1);
  ASSERT_THAT(Heard<LeaseGrant>(4), SizeIs(1));
  const Lease eval = Heard<LeaseGrant>(4)[0].lease;
  EXPECT_EQ(eval.purpose, LeasePurpose::kEvaluate);
  EXPECT_EQ(eval.epoch, 0u);
  Tell(3, LeaseRequest{});
  EXPECT_THAT(Heard<LeaseGrant>(3), SizeIs(1)) << "no training meanwhile";
  Tell(4, EvalResult{eval.number, 0, 0, {1, 2}, {0, 1}});
  ASSERT_THAT(Heard<LeaseGrant>(3), SizeIs(2));
  const Lease second = Heard<LeaseGrant>(3)[1].lease;
  EXPECT_EQ(second.purpose, LeasePurpose::kTrain);
  EXPECT_EQ(second.epoch, 1u);
  // A copy's scores of the evaluation that is over.
  Tell(3, EvalResult{eval.number, 0, 0, {1, 2}, {0, 1}});
  MarkBoth(second, 0);
  MarkBoth(second, 1);
  const Lease last = Ask(4);
  EXPECT_EQ(last.purpose, LeasePurpose::kEvaluate);
  EXPECT_EQ(last.epoch, 1u) << "evaluations have numbers of their own";
  Tell(3, EvalResult{eval.number, 0, 0, {1, 2}, {0, 1}});
  Tell(4, EvalResult{last.number, 1, 0, {2, 1}, {0, 1}});
  EXPECT_THAT(Heard<ReportShard>(1), SizeIs(1));
  const JobReport report = state_->Report(now_);
  ASSERT_THAT(report.evals, SizeIs(2));
  EXPECT_EQ(report.evals[0].auc, 1);
  EXPECT_EQ(report.evals[0].epoch, 1u);
  EXPECT_EQ(report.evals[0].step, 2u);
  EXPECT_EQ(report.evals[1].auc, 0);
  EXPECT_EQ(report.evals[1].epoch, 2u);
  EXPECT_EQ(report.evals[1].step, 4u);
  EXPECT_EQ(report.eval.auc, 0) << "the last one's";
  EXPECT_EQ(report.workers[1].scored, 4u);
}

TEST_F(CoordinatorStateTest, EveryFewEpochsAndAtTheEnd) {
  eval_ = {{"e", 50, 3}};
  options_.num_epochs = 5;
  train_.resize(1);
  for (const uint32_t every : {0u, 1u, 2u, 5u, 9u}) {
    options_.eval_every_epochs = every;
    Restart();
    JoinAll();
    std::vector<uint32_t> evaluated;
    std::vector<uint32_t> trained;
    while (Heard<ReportShard>(1).empty() && trained.size() < 20) {
      const Lease lease = Ask(3);
      if (lease.purpose == LeasePurpose::kTrain) {
        trained.push_back(lease.epoch);
        Report(3, lease, 10);
        MarkBoth(lease, 0);
      } else {
        Tell(3, EvalResult{lease.number, lease.epoch, 0, {1, 2}, {0, 1}});
      }
      Tell(3, LeaseDone{lease.number});
    }
    for (const EvalReport& eval : state_->Report(now_).evals) {
      evaluated.push_back(eval.epoch);
    }
    EXPECT_THAT(trained, ElementsAre(0, 1, 2, 3, 4)) << every;
    const std::vector<uint32_t> expected =
        every == 1   ? std::vector<uint32_t>{1, 2, 3, 4, 5}
        : every == 2 ? std::vector<uint32_t>{2, 4, 5}
                     : std::vector<uint32_t>{5};
    EXPECT_EQ(evaluated, expected) << every;
  }
}

TEST_F(CoordinatorStateTest, WithoutEvaluationsInBetweenEpochsHaveNoBarrier) {
  options_.num_epochs = 2;
  train_.resize(1);
  for (const bool files : {false, true}) {
    eval_ = files ? std::vector<SourceInfo>{{"e", 50, 3}}
                  : std::vector<SourceInfo>{};
    options_.eval_every_epochs = files ? 0 : 1;
    Restart();
    JoinAll();
    EXPECT_EQ(Ask(3).epoch, 0u);
    EXPECT_EQ(Ask(4).epoch, 1u);
  }
}

TEST_F(CoordinatorStateTest, TrainingGoesOnWhileAnEvaluationIsWorkedOut) {
  eval_ = {{"e", 50, 3}};
  options_.num_epochs = 3;
  train_.resize(1);
  scores_at_once_ = false;
  Restart();
  JoinAll();
  Train(3, 10);
  Lease eval = Ask(3);
  Tell(3, EvalResult{eval.number, 0, 0, {1, 2}, {0, 1}});
  Train(3, 10);
  // The next one waits: two would take twice the memory.
  Tell(3, LeaseRequest{});
  Pass(absl::Seconds(1));
  ASSERT_THAT(to_score_, SizeIs(1));
  const size_t grants = Heard<LeaseGrant>(3).size();
  ScoreAll();
  ASSERT_THAT(Heard<LeaseGrant>(3), SizeIs(grants + 1));
  EXPECT_EQ(Heard<LeaseGrant>(3).back().lease.purpose, LeasePurpose::kEvaluate);
}

// ---- Evaluation and inference alone

TEST_F(CoordinatorStateTest, AJobThatOnlyEvaluatesTrainsNothing) {
  eval_ = {{"e", 50, 3}};
  options_.task = JobTask::kEvaluate;
  options_.num_epochs = 7;
  Restart();
  JoinAll();
  const Lease lease = Ask(3);
  EXPECT_EQ(lease.purpose, LeasePurpose::kEvaluate);
  Tell(3, EvalResult{lease.number, 0, 0, {1, 2}, {0, 1}});
  EXPECT_THAT(Heard<ReportShard>(1), SizeIs(1));
  EXPECT_THAT(state_->Report(now_).evals, SizeIs(1));
  EXPECT_EQ(state_->Report(now_).eval.epoch, 0u);
}

TEST_F(CoordinatorStateTest, AnEvaluationIsJudgedByTheObjectivesMetrics) {
  eval_ = {{"e", 50, 3}};
  options_.task = JobTask::kEvaluate;
  options_.metrics = &kThreeClassMetrics;
  Restart();
  JoinAll();
  const Lease lease = Ask(3);
  Tell(3, EvalResult{lease.number, 0, 0, {0, 0, 9}, {2}, 0, true});
  // That row again, and one more.
  Tell(3, EvalResult{lease.number, 0, 0, {0, 0, 9, 0, 9, 0}, {2, 1}});
  const EvalReport report = state_->Report(now_).eval;
  EXPECT_EQ(report.examples, 2u);
  EXPECT_EQ(report.auc, 1);
  EXPECT_NEAR(report.logloss, std::log(1 + 2 * std::exp(-9.0)), 1e-9);
}

class InferenceStateTest : public CoordinatorStateTest {
 protected:
  InferenceStateTest() {
    options_.task = JobTask::kInfer;
    eval_ = {{"e", 50, 3}, {"f", 50, 4}};
    Restart();
    JoinAll();
  }
  std::vector<float> Written() const {
    std::vector<float> all;
    for (const WritePredictionsAction& write : written_) {
      all.insert(all.end(), write.logits.begin(), write.logits.end());
    }
    return all;
  }
};

TEST_F(InferenceStateTest, PredictionsAreWrittenInTheOrderOfTheInput) {
  const Lease one = Ask(3);
  const Lease two = Ask(4);
  EXPECT_EQ(one.purpose, LeasePurpose::kInfer);
  EXPECT_EQ(one.piece.index, 0u);
  Tell(4, EvalResult{two.number, 0, 1, {3, 4}, {0, 1}});
  EXPECT_THAT(Written(), IsEmpty());
  EXPECT_DOUBLE_EQ(state_->Report(now_).fraction_done, 0.5);
  Tell(3, EvalResult{one.number, 0, 0, {1}, {0}, 0, true});
  EXPECT_THAT(Written(), ElementsAre(1));
  Tell(3, EvalResult{one.number, 0, 0, {2}, {0}, 1, false});
  EXPECT_THAT(Written(), ElementsAre(1, 2, 3, 4));
  EXPECT_TRUE(written_.back().last);
  EXPECT_DOUBLE_EQ(state_->Report(now_).fraction_done, 1);
  EXPECT_THAT(Heard<ReportShard>(1), IsEmpty()) << "not on the disk yet";
  for (const WritePredictionsAction& write : written_) {
    Do(state_->OnPredictionsWritten(write.logits.size(), write.last,
                                    absl::OkStatus(), now_));
  }
  EXPECT_THAT(Heard<ReportShard>(1), SizeIs(1));
  EXPECT_EQ(state_->Report(now_).predicted, 4u);
  EXPECT_THAT(state_->Report(now_).evals, IsEmpty());
}

TEST_F(InferenceStateTest, BadRowsKeepTheirPlaceAndCount) {
  const Lease one = Ask(3);
  Tell(3, EvalResult{one.number, 0, 0, {1, 7, 3}, {0, BadRowLabel(2), 1}});
  ASSERT_THAT(Written(), SizeIs(3));
  EXPECT_TRUE(std::isnan(Written()[1]));
  EXPECT_EQ(state_->Report(now_).predicted_nan, 1u);
  EXPECT_TRUE(JobStatus().ok());
  Tell(3, EvalResult{Ask(3).number, 0, 1, {std::nanf("")}, {0}});
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Why(), HasSubstr("diverged"));
}

TEST_F(InferenceStateTest, ALabelThatIsNoneIsRefused) {
  const Lease one = Ask(3);
  Tell(3, EvalResult{one.number, 0, 0, {1}, {3}});
  EXPECT_EQ(ended_[3].code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(JobStatus().ok());
  EXPECT_THAT(Written(), IsEmpty());
}

TEST_F(InferenceStateTest, ARowMayHaveMoreScoresThanOne) {
  options_.metrics = &kThreeClassMetrics;
  Restart();
  JoinAll();
  const Lease one = Ask(3);
  Tell(3, EvalResult{one.number, 0, 0, {1, 2, 3}, {0}, 0, true});
  // The first row again, and two more, one of which could not be parsed.
  Tell(3, EvalResult{one.number,
                     0,
                     0,
                     {1, 2, 3, 4, 5, 6, 7, 8, 9},
                     {0, BadRowLabel(3), 1}});
  const std::vector<float> written = Written();
  ASSERT_THAT(written, SizeIs(9));
  EXPECT_THAT(std::vector<float>(written.begin(), written.begin() + 3),
              ElementsAre(1, 2, 3));
  for (size_t i = 3; i < 6; ++i) EXPECT_TRUE(std::isnan(written[i]));
  EXPECT_THAT(std::vector<float>(written.begin() + 6, written.end()),
              ElementsAre(7, 8, 9));
  for (const WritePredictionsAction& write : written_) {
    Do(state_->OnPredictionsWritten(write.logits.size(), write.last,
                                    absl::OkStatus(), now_));
  }
  EXPECT_EQ(state_->Report(now_).predicted, 3u) << "rows";
  EXPECT_EQ(state_->Report(now_).predicted_nan, 1u);
}

TEST_F(InferenceStateTest, AFullDiskEndsTheJob) {
  Tell(3, EvalResult{Ask(3).number, 0, 0, {1}, {0}, 0, true});
  Do(state_->OnPredictionsWritten(
      1, false, absl::ResourceExhaustedError("p: No space left"), now_));
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Why(), HasSubstr("--predictions_file: p: No space left"));
  ExpectEnded({1, 2, 3, 4});
}

TEST_F(InferenceStateTest, PiecesFarAheadAreNotLeased) {
  eval_.assign(40, {"e", 50, 3});
  for (size_t i = 0; i < eval_.size(); ++i) eval_[i].name += std::to_string(i);
  Restart();
  JoinAll();
  const Lease head = Ask(3);
  Lease lease = Ask(4);
  while (true) {
    Tell(4, EvalResult{lease.number, 0, lease.piece.index, {1}, {0}});
    const size_t before = Heard<LeaseGrant>(4).size();
    Tell(4, LeaseRequest{});
    if (Heard<LeaseGrant>(4).size() == before) break;
    lease = Heard<LeaseGrant>(4).back().lease;
  }
  // Two a worker.
  EXPECT_EQ(lease.piece.index, 4u);
  EXPECT_THAT(Written(), IsEmpty());
  Tell(3, EvalResult{head.number, 0, 0, {9}, {0}});
  EXPECT_THAT(Written(), ElementsAre(9, 1, 1, 1, 1));
  EXPECT_EQ(Heard<LeaseGrant>(4).back().lease.piece.index, 5u);
}

}  // namespace
}  // namespace shoal
