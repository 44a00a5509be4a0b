#include "coordinator/leased_work.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/members.h"

namespace shoal {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// A PS (session 1) and two workers (sessions 2 and 3). One training piece and
// one evaluation piece, batches of 10.
class LeasedWorkTest : public testing::Test {
 protected:
  LeasedWorkTest() : membership_(MembershipOptions{}) {
    options_.batch_size = 10;
    options_.piece_bytes = 0;
    options_.shuffle = false;
    options_.num_workers = 2;
    ps_ = Join(Role::kPs, 0, 1, &membership_);
    for (int i = 0; i < 2; ++i) {
      workers_.push_back(
          Join(Role::kWorker, i, static_cast<uint64_t>(i) + 2, &membership_));
    }
    membership_.Begin();
  }

  // Training has begun.
  void Begin() {
    work_.emplace(options_);
    work_->SetPieces(CutJob(options_, membership_.files()).value());
    Do(work_->BeginTraining(View()));
  }
  LeasedWork::View View() {
    return {membership_, phase_, now_, now_, progress_};
  }
  void Do(JobEffects effects) {
    for (CoordinatorAction& action : effects.actions) {
      if (auto* send = std::get_if<SendAction>(&action)) {
        if (auto* grant = std::get_if<LeaseGrant>(&send->message)) {
          grants_.emplace_back(send->session, std::move(grant->lease));
        }
      } else if (auto* log = std::get_if<LogAction>(&action)) {
        logs_.push_back(log->line);
      } else if (auto* score = std::get_if<ScoreAction>(&action)) {
        to_score_.push_back(score->evaluation);
      }
    }
    progress_seen_ += effects.progress;
    if (effects.phase.has_value()) phase_ = *effects.phase;
    if (effects.end.has_value()) end_ = std::move(effects.end);
  }
  absl::Status Do(absl::StatusOr<JobEffects> effects) {
    if (effects.ok()) Do(*std::move(effects));
    return effects.status();
  }

  // What the worker is given for a request.
  std::optional<Lease> Ask(int worker) {
    EXPECT_TRUE(work_->OnRequest(workers_[worker], phase_).ok());
    const size_t before = grants_.size();
    Do({work_->Grant(View())});
    if (grants_.size() == before) return std::nullopt;
    EXPECT_EQ(grants_.back().first, workers_[worker].session);
    return grants_.back().second;
  }
  absl::Status Report(const Lease& lease, uint64_t examples,
                      uint64_t bad_rows = 0) {
    PieceReport report;
    report.purpose = lease.purpose;
    report.epoch = lease.epoch;
    report.piece = lease.piece.index;
    report.examples = examples;
    report.bad_rows = bad_rows;
    report.batches = static_cast<uint32_t>((examples + 9) / 10);
    if (bad_rows != 0) report.first_error = "a, line 3: no label";
    return Do(work_->OnReport(workers_[0], report, View()));
  }
  absl::Status Mark1(const Lease& lease, uint32_t index,
                     Verdict verdict = Verdict::kApplied) {
    MarkDelta delta;
    delta.marks = {{{lease.epoch, lease.piece.index, index},
                    verdict,
                    lease.number,
                    false}};
    return Do(work_->OnMarks(ps_, delta, View()));
  }
  // Trains an epoch, of one batch.
  void TrainEpoch() {
    const std::optional<Lease> lease = Ask(0);
    ASSERT_TRUE(lease.has_value());
    EXPECT_TRUE(Report(*lease, 10).ok());
    EXPECT_TRUE(Mark1(*lease, 0).ok());
    Do(work_->OnDone(workers_[0], {lease->number}, View()));
  }
  // Scores the evaluation piece, of two rows.
  void Score() {
    const std::optional<Lease> lease = Ask(1);
    ASSERT_TRUE(lease.has_value());
    EXPECT_EQ(lease->purpose, LeasePurpose::kEvaluate);
    EvalResult result{lease->number, lease->epoch, 0, {1, -1}, {1, 0}, 0,
                      false};
    EXPECT_TRUE(Do(work_->OnScores(workers_[1], result, View())).ok());
    Do(work_->ContinueEvaluating(0));
  }

  CoordinatorOptions options_;
  absl::Time now_ = absl::UnixEpoch();
  Membership membership_;
  Member ps_;
  std::vector<Member> workers_;
  JobProgress progress_;
  JobPhase phase_ = JobPhase::kGathering;
  std::optional<LeasedWork> work_;
  std::vector<std::pair<uint64_t, Lease>> grants_;  // session, lease
  std::vector<std::string> logs_;
  std::vector<std::shared_ptr<const Evaluation>> to_score_;
  int progress_seen_ = 0;
  std::optional<JobOutcome> end_;
};

TEST_F(LeasedWorkTest, ShortBatchesAreWarnedOfOnce) {
  options_.num_epochs = 2;
  options_.eval_every_epochs = 0;
  Begin();
  ASSERT_TRUE(Report(*Ask(0), 7).ok());
  ASSERT_TRUE(Report(*Ask(1), 7).ok());
  EXPECT_EQ(std::count_if(logs_.begin(), logs_.end(), [](const auto& line) {
              return line.find("batches have 7.0 rows in the mean, and "
                               "--batch_size=10: ") == 0;
            }),
            1);
}

TEST_F(LeasedWorkTest, AFewShortBatchesAreNotWarnedOf) {
  Begin();
  ASSERT_TRUE(Report(*Ask(0), 38).ok());
  EXPECT_THAT(logs_, Not(Contains(HasSubstr("in the mean"))));
}

TEST_F(LeasedWorkTest, TrainingBeginsAndSaysOnWhat) {
  Begin();
  EXPECT_EQ(phase_, JobPhase::kTraining);
  EXPECT_THAT(logs_, ElementsAre("training on 100 bytes in 1 piece, 1 epoch, "
                                 "with 1 ps and 2 workers"));
}

// ---- Divergence

TEST_F(LeasedWorkTest, TheJobEndsOnceHalfOfItsBatchesAreRejected) {
  Begin();
  const Lease lease = *Ask(0);
  for (uint32_t i = 0; i < 99; ++i) {
    const auto verdict = i < 49 ? Verdict::kRejected : Verdict::kApplied;
    EXPECT_TRUE(Mark1(lease, i, verdict).ok());
  }
  EXPECT_FALSE(end_.has_value()) << "99 batches";
  EXPECT_TRUE(Mark1(lease, 99, Verdict::kRejected).ok());
  ASSERT_TRUE(end_.has_value());
  EXPECT_EQ(end_->diverged_after, 0u);
  EXPECT_EQ(end_->status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(end_->status.message()),
              HasSubstr("training diverged: 50 of its newest 100 batches were "
                        "rejected"));
}

TEST_F(LeasedWorkTest, TheJobEndsOnceItsLossIsAboveTen) {
  Begin();
  Ask(0);
  TrainProgress progress;
  progress.batches = 100;
  progress.examples = 1000;
  progress.loss_sum = 10000;
  Do(work_->OnProgress(workers_[0].life, progress, phase_));
  EXPECT_FALSE(end_.has_value()) << "the mean is 10";
  progress.batches = 200;
  progress.examples = 2000;
  progress.loss_sum = 21000;
  Do(work_->OnProgress(workers_[0].life, progress, phase_));
  ASSERT_TRUE(end_.has_value());
  EXPECT_THAT(std::string(end_->status.message()),
              HasSubstr("diverged: the mean loss of its newest 100 batches is "
                        "11"));
}

TEST_F(LeasedWorkTest, AShortJobIsJudgedAtItsEndByTheLossOfItsLeases) {
  Begin();
  const Lease lease = *Ask(0);
  EXPECT_TRUE(Report(lease, 100).ok());
  for (uint32_t i = 0; i < 10; ++i) EXPECT_TRUE(Mark1(lease, i).ok());
  Do(work_->CheckEndOfTraining());
  EXPECT_FALSE(end_.has_value()) << "no loss is known";
  TrainProgress progress;
  progress.batches = 10;
  progress.examples = 100;
  progress.loss_sum = 2000;
  Do(work_->OnDone(workers_[0], {lease.number, progress}, View()));
  EXPECT_FALSE(end_.has_value()) << "only 10 batches";
  Do(work_->CheckEndOfTraining());
  ASSERT_TRUE(end_.has_value());
  EXPECT_EQ(end_->diverged_after, 0u);
}

TEST_F(LeasedWorkTest, ALongDeltaIsJudgedBatchByBatch) {
  Begin();
  const Lease lease = *Ask(0);
  MarkDelta delta;
  for (uint32_t i = 0; i < 400; ++i) {
    const bool bad = i >= 30 && i < 90;
    delta.marks.push_back({{lease.epoch, lease.piece.index, i},
                           bad ? Verdict::kRejected : Verdict::kApplied,
                           lease.number,
                           false});
    if (i != 59) continue;
    EXPECT_TRUE(Do(work_->OnMarks(ps_, delta, View())).ok());
    EXPECT_FALSE(work_->sound());
    EXPECT_FALSE(end_.has_value());
    delta.marks.clear();
  }
  // The newest 100 batches of the whole delta are good.
  EXPECT_TRUE(Do(work_->OnMarks(ps_, delta, View())).ok());
  ASSERT_TRUE(end_.has_value());
  EXPECT_EQ(end_->diverged_after, 30u);
  EXPECT_EQ(work_->book().totals().batches, 400u) << "all are counted";
}

TEST_F(LeasedWorkTest, AModelWhoseLossSaysNothingIsNotWatched) {
  options_.watch_divergence = false;
  Begin();
  const Lease lease = *Ask(0);
  for (uint32_t i = 0; i < 200; ++i) {
    EXPECT_TRUE(Mark1(lease, i, Verdict::kRejected).ok());
  }
  Do(work_->CheckEndOfTraining());
  EXPECT_FALSE(end_.has_value());
  EXPECT_TRUE(work_->sound());
}

// ---- Training, evaluating, and back

TEST_F(LeasedWorkTest, AnEvaluationComesBetweenTwoEpochs) {
  options_.num_epochs = 2;
  Begin();
  EXPECT_FALSE(work_->EvaluationDue());
  TrainEpoch();
  EXPECT_TRUE(work_->EvaluationDue());
  EXPECT_FALSE(work_->trained());
  EXPECT_FALSE(Ask(0).has_value()) << "the next epoch waits";
  Do(work_->Evaluate(View()));
  EXPECT_EQ(phase_, JobPhase::kEvaluating);
  work_->StopLeasing();  // of the request above
  Score();
  EXPECT_EQ(phase_, JobPhase::kTraining) << "while the scores are worked out";
  ASSERT_THAT(to_score_, SizeIs(1));
  TrainEpoch();
  EXPECT_TRUE(work_->trained());
  EXPECT_FALSE(work_->EvaluationDue()) << "one at a time";
  Do(work_->OnScored(to_score_[0]->Report(), phase_));
  EXPECT_EQ(phase_, JobPhase::kTraining);
  EXPECT_TRUE(work_->EvaluationDue());
}

TEST_F(LeasedWorkTest, TheLastFiguresEndTheWork) {
  Begin();
  TrainEpoch();
  Do(work_->Evaluate(View()));
  Score();
  EXPECT_EQ(phase_, JobPhase::kEvaluating);
  ASSERT_THAT(to_score_, SizeIs(1));
  Do(work_->OnScored(to_score_[0]->Report(), phase_));
  EXPECT_EQ(phase_, JobPhase::kReporting);
  JobReport report;
  work_->FillTrained(phase_, &report);
  work_->FillScored(&report);
  EXPECT_EQ(report.trained, 10u);
  EXPECT_EQ(report.fraction_done, 1);
  EXPECT_EQ(report.eval.examples, 2u);
}

TEST_F(LeasedWorkTest, FiguresOfAJobThatEndedAreDropped) {
  Begin();
  TrainEpoch();
  Do(work_->Evaluate(View()));
  Score();
  phase_ = JobPhase::kEnding;
  const JobEffects effects = work_->OnScored(to_score_[0]->Report(), phase_);
  EXPECT_THAT(effects.actions, IsEmpty());
  EXPECT_FALSE(effects.phase.has_value());
}

TEST_F(LeasedWorkTest, PredictionsThatCannotBeWrittenEndTheJob) {
  options_.task = JobTask::kInfer;
  Begin();
  EXPECT_THAT(logs_, IsEmpty()) << "nothing is trained";
  EXPECT_TRUE(work_->EvaluationDue());
  Do(work_->Evaluate(View()));
  Do(work_->OnPredictionsWritten(0, false, absl::InternalError("full"),
                                 phase_));
  ASSERT_TRUE(end_.has_value());
  EXPECT_EQ(end_->status, absl::InternalError("--predictions_file: full"));
}

// ---- Data

TEST_F(LeasedWorkTest, AJobWithoutARowEnds) {
  Begin();
  EXPECT_FALSE(work_->CheckRows().end.has_value());
  options_.max_bad_rows = -1;
  Begin();
  const std::optional<Lease> lease = Ask(0);
  ASSERT_TRUE(lease.has_value());
  EXPECT_TRUE(Report(*lease, 0, 3).ok());
  const JobEffects effects = work_->CheckRows();
  ASSERT_TRUE(effects.end.has_value());
  EXPECT_THAT(std::string(effects.end->status.message()),
              HasSubstr("3 rows could not be parsed; the first: a, line 3"));
}

TEST_F(LeasedWorkTest, TooManyBadRowsEndTheJob) {
  options_.max_bad_rows = 1;
  Begin();
  EXPECT_TRUE(Report(*Ask(0), 10, 2).ok());
  ASSERT_TRUE(end_.has_value());
  EXPECT_THAT(std::string(end_->status.message()),
              HasSubstr("2 rows could not be parsed, more than "
                        "--max_bad_rows=1; the first: a, line 3"));
}

TEST_F(LeasedWorkTest, AllowedBadRowsAreNamedInTheLogUpToALimit) {
  options_.max_bad_rows = -1;
  Begin();
  PieceReport report;
  const Lease lease = *Ask(0);
  report.epoch = lease.epoch;
  report.piece = lease.piece.index;
  report.examples = 10;
  report.batches = 10 / lease.batch_size + (10 % lease.batch_size != 0);
  report.bad_rows = 7;
  report.first_error = "a:1: x\na:2: x\na:3: x\na:4: x\na:9: y";
  const auto effects = work_->OnReport(workers_[0], report, View());
  ASSERT_TRUE(effects.ok()) << effects.status();
  std::vector<std::string> lines;
  for (const CoordinatorAction& action : effects->actions) {
    const auto* log = std::get_if<LogAction>(&action);
    if (log == nullptr) continue;
    EXPECT_EQ(log->level, LogLevel::kWarn);
    lines.push_back(log->line);
  }
  ASSERT_EQ(lines.size(), kNamedBadRows);
  EXPECT_EQ(lines[0], "bad row: a:1: x");
  EXPECT_THAT(lines[4], HasSubstr("a:9: y; further bad rows are counted"));
  JobReport told;
  work_->FillTrained(phase_, &told);
  EXPECT_EQ(told.named_bad_rows.size(), kNamedBadRows);
}

TEST_F(LeasedWorkTest, DataThatChangedEndTheJobAndNameTheWorker) {
  Begin();
  const Lease lease = *Ask(0);
  EXPECT_TRUE(Report(lease, 10).ok());
  EXPECT_EQ(progress_seen_, 1);
  EXPECT_TRUE(Report(lease, 10).ok());
  EXPECT_EQ(progress_seen_, 1) << "the same again is no progress";
  EXPECT_TRUE(Report(lease, 11).ok());
  ASSERT_TRUE(end_.has_value());
  EXPECT_TRUE(absl::IsDataLoss(end_->status));
  EXPECT_EQ(end_->first, "worker 0");
}

TEST_F(LeasedWorkTest, AReportBeforeTrainingBreaksTheProtocol) {
  work_.emplace(options_);
  EXPECT_TRUE(absl::IsInvalidArgument(Report({}, 10)));
  EXPECT_FALSE(end_.has_value());
}

// ---- Marks

TEST_F(LeasedWorkTest, AMarkUnderALeaseThatWasNeverGivenEndsTheJob) {
  Begin();
  Lease lease = *Ask(0);
  lease.number = 7;
  EXPECT_TRUE(Mark1(lease, 0).ok());
  ASSERT_TRUE(end_.has_value());
  EXPECT_TRUE(absl::IsDataLoss(end_->status));
  EXPECT_THAT(std::string(end_->status.message()),
              HasSubstr("under lease 7, which was never given"));
}

TEST_F(LeasedWorkTest, AMarkOfABatchThatTheJobDoesNotHaveEndsTheJob) {
  Begin();
  Lease lease = *Ask(0);
  lease.epoch = 9;
  EXPECT_TRUE(Mark1(lease, 0).ok());
  ASSERT_TRUE(end_.has_value());
  EXPECT_THAT(std::string(end_->status.message()),
              HasSubstr("which this job does not have"));
}

TEST_F(LeasedWorkTest, ANewMarkIsProgress) {
  Begin();
  const Lease lease = *Ask(0);
  EXPECT_TRUE(Mark1(lease, 0).ok());
  EXPECT_EQ(progress_seen_, 1);
}

TEST_F(LeasedWorkTest, TheSteadyWindowOpensAfterTheWarmup) {
  options_.warmup_steps = 1;
  Begin();
  const Lease lease = *Ask(0);
  EXPECT_FALSE(progress_.steady_open());
  EXPECT_TRUE(Report(lease, 20).ok());
  EXPECT_TRUE(Mark1(lease, 0).ok());
  EXPECT_TRUE(progress_.steady_open());
}

// What a job that is stopped has begun after its last step does not count.
TEST_F(LeasedWorkTest, TheSteadyWindowEndsWithTheNewestStep) {
  options_.warmup_steps = 1;
  Begin();
  const Lease lease = *Ask(0);
  EXPECT_TRUE(Report(lease, 30).ok());
  EXPECT_TRUE(Mark1(lease, 0).ok());
  for (const uint32_t batch : {1, 2}) {
    now_ += absl::Seconds(2);
    EXPECT_TRUE(Mark1(lease, batch).ok());
  }
  now_ += absl::Seconds(7);
  JobReport report;
  progress_.Fill(now_, &report);
  EXPECT_EQ(report.steady_samples, 20u);
  EXPECT_DOUBLE_EQ(report.steady_wall_seconds, 4);
}

// The newest batch of a piece is in no sum before the piece has been read, and
// that comes at any time.
TEST_F(LeasedWorkTest, TheSteadyWindowHasTheStepsThatWereTakenInIt) {
  options_.warmup_steps = 1;
  Begin();
  const Lease lease = *Ask(0);
  EXPECT_TRUE(Mark1(lease, 0).ok());
  now_ += absl::Seconds(2);
  EXPECT_TRUE(Mark1(lease, 1).ok());
  JobReport report;
  progress_.Fill(now_, &report);
  EXPECT_EQ(report.steady_samples, 10u);
  EXPECT_TRUE(Report(lease, 30).ok());
  now_ += absl::Seconds(2);
  EXPECT_TRUE(Mark1(lease, 2).ok());
  report = {};
  progress_.Fill(now_, &report);
  EXPECT_EQ(report.steady_samples, 20u);
  EXPECT_DOUBLE_EQ(report.steady_wall_seconds, 4);
}

// ---- Leases

TEST_F(LeasedWorkTest, ALeaseThatFailsOnAllWorkersEndsTheJob) {
  Begin();
  const LeaseFailed first{Ask(0)->number, absl::NotFoundError("no such file")};
  Do(work_->OnFailed(workers_[0], first, View()));
  EXPECT_FALSE(end_.has_value());
  EXPECT_THAT(work_->last_failure(),
              HasSubstr("worker 0 cannot read training piece 0"));
  const LeaseFailed second{Ask(1)->number, absl::NotFoundError("no such file")};
  Do(work_->OnFailed(workers_[1], second, View()));
  ASSERT_TRUE(end_.has_value());
  EXPECT_TRUE(absl::IsNotFound(end_->status));
  EXPECT_THAT(std::string(end_->status.message()),
              HasSubstr("nor can any other worker"));
  EXPECT_EQ(end_->first, "worker 1");
}

TEST_F(LeasedWorkTest, TheWorkOfAWorkerThatDiedIsLeasedAgain) {
  Begin();
  ASSERT_TRUE(Ask(0).has_value());
  EXPECT_FALSE(Ask(1).has_value());
  membership_.Remove(workers_[0].life);
  work_->End(workers_[0].life);
  Do({work_->Grant(View())});
  ASSERT_THAT(grants_, SizeIs(2));
  EXPECT_EQ(grants_[1].first, workers_[1].session);
}

TEST_F(LeasedWorkTest, ALeaseThatIsNotRenewedRunsOut) {
  Begin();
  ASSERT_TRUE(Ask(0).has_value());
  now_ += options_.worker_lease / 2;
  work_->Renew(workers_[0].life, now_);
  now_ += options_.worker_lease / 2 + absl::Seconds(1);
  work_->Tick(View());
  EXPECT_THAT(work_->leases(phase_).held(), SizeIs(1));
  now_ += options_.worker_lease;
  work_->Tick(View());
  EXPECT_THAT(work_->leases(phase_).held(), IsEmpty());
}

TEST_F(LeasedWorkTest, NoRequestIsTakenOnceEverythingIsScored) {
  Begin();
  for (int i = 0; i < 2 * LeaseDesk::kMaxRequests; ++i) {
    EXPECT_TRUE(work_->OnRequest(workers_[0], JobPhase::kReporting).ok());
  }
  Do({work_->Grant(View())});
  EXPECT_THAT(grants_, IsEmpty());
}

}  // namespace
}  // namespace shoal
