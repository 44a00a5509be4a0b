#include "coordinator/job_finish.h"

#include <string>
#include <variant>
#include <vector>

#include "core/job_loss.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/members.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A PS (session 1), a worker (session 2) and a worker that has registered and
// opened no session.
class JobFinishTest : public testing::Test {
 protected:
  JobFinishTest()
      : membership_(MembershipOptions{}),
        ps_(Join(Role::kPs, 0, 1, &membership_)),
        worker_(Join(Role::kWorker, 0, 2, &membership_)) {
    RegisterRequest request;
    request.index = 1;
    request.train_sources = {{"a", 100, 1}};
    request.eval_sources = {{"e", 50, 2}};
    EXPECT_TRUE(membership_.Register(request, absl::UnixEpoch()).ok());
  }

  JobReport Report(JobPhase phase) const {
    JobReport report;
    finish_.Fill(phase, &report);
    return report;
  }

  Membership membership_;
  Member ps_;
  Member worker_;
  JobFinish finish_;
};

TEST_F(JobFinishTest, EveryShardIsAskedForItsReport) {
  const CoordinatorActions actions = JobFinish::AskReports(membership_);
  ASSERT_THAT(actions, SizeIs(1));
  const auto& send = std::get<SendAction>(actions[0]);
  EXPECT_EQ(send.session, 1u);
  EXPECT_TRUE(std::holds_alternative<ReportShard>(send.message));
}

TEST_F(JobFinishTest, TheVerdictIsTheChecksOfTheServersAndThenOfTheSave) {
  LedgerTotals totals;
  totals.batches = 3;
  totals.rejected_batches = 1;
  std::vector<PsReport> shards(1);
  EXPECT_EQ(JobFinish::Verdict(shards, totals, absl::OkStatus()).status,
            absl::OkStatus());
  const absl::Status saved = absl::DeadlineExceededError("not saved");
  EXPECT_EQ(JobFinish::Verdict(shards, totals, saved).status, saved);
}

TEST_F(JobFinishTest, CopiesOfAShardThatDifferEndTheJobAsTornCanariesDo) {
  std::vector<PsReport> members(2);
  members[1].index = 1;
  EXPECT_EQ(JobFinish::Verdict(members, {}, absl::OkStatus()).status,
            absl::OkStatus());
  members[1].stats.digest = 1;
  const JobOutcome torn = JobFinish::Verdict(
      members, {}, absl::DeadlineExceededError("not saved"));
  EXPECT_EQ(torn.status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(torn.status.message()),
              HasSubstr("worker 0 and worker 1 hold copies of shard 0"));
  // Canaries say more: a push was lost or applied more than once.
  members[0].stats.canary = members[1].stats.canary = CanaryStats{1, 0, 1, 1};
  EXPECT_THAT(
      std::string(JobFinish::Verdict(members, {}, absl::OkStatus())
                      .status.message()),
      HasSubstr("ps 0 has canaries of 1 batches"));
}

TEST_F(JobFinishTest, AFailureEndsTheJobAndNamesItsProcess) {
  const JobEffects effects = JobFinish::OnFailure(
      worker_, {absl::DataLossError("bad file")}, JobPhase::kTraining);
  ASSERT_TRUE(effects.end.has_value());
  EXPECT_EQ(effects.end->status, absl::DataLossError("worker 0: bad file"));
  EXPECT_EQ(effects.end->first, "worker 0");
  const JobEffects stopped = JobFinish::OnFailure(
      worker_, {absl::CancelledError("worker 0 got SIGTERM")},
      JobPhase::kTraining);
  EXPECT_EQ(stopped.end->status, absl::CancelledError("worker 0 got SIGTERM"));
  const JobEffects silent =
      JobFinish::OnFailure(ps_, {absl::OkStatus()}, JobPhase::kTraining);
  EXPECT_THAT(std::string(silent.end->status.message()),
              HasSubstr("did not say why"));
}

TEST_F(JobFinishTest, AWorkerOfARingThatLacksAnotherRankTellsALoss) {
  const Failure lacks{absl::UnavailableError("rank 2 is lost")};
  const Failure bad{absl::DataLossError("bad file")};
  const JobPhase phase = JobPhase::kTraining;
  const auto lost = JobFinish::OnFailure(worker_, lacks, phase, /*ring=*/true);
  ASSERT_TRUE(lost.end.has_value());
  EXPECT_TRUE(lost.end->lost);
  EXPECT_EQ(lost.end->status,
            absl::UnavailableError("rank 2 is lost"));
  EXPECT_FALSE(JobFinish::OnFailure(worker_, lacks, phase).end->lost);
  EXPECT_FALSE(JobFinish::OnFailure(worker_, bad, phase, true).end->lost);
  EXPECT_FALSE(JobFinish::OnFailure(ps_, lacks, phase, true).end->lost);
}

TEST_F(JobFinishTest, AWorkersFailureAfterTheLastScoreEndsNothing) {
  const Failure failure{absl::InternalError("x")};
  const JobEffects effects =
      JobFinish::OnFailure(worker_, failure, JobPhase::kReporting);
  EXPECT_FALSE(effects.end.has_value());
  EXPECT_THAT(effects.actions, SizeIs(1));
  EXPECT_TRUE(
      JobFinish::OnFailure(ps_, failure, JobPhase::kReporting).end.has_value());
}

TEST_F(JobFinishTest, AServerThatLeavesEarlyEndsTheJob) {
  const JobEffects ps = JobFinish::OnBye(ps_, JobPhase::kTraining);
  ASSERT_TRUE(ps.end.has_value());
  EXPECT_EQ(ps.end->status,
            absl::CancelledError("ps 0 (h0:1) left before the job was over"));
  EXPECT_FALSE(JobFinish::OnBye(worker_, JobPhase::kTraining).end.has_value());
  const JobEffects late = JobFinish::OnBye(ps_, JobPhase::kEnding);
  EXPECT_FALSE(late.end.has_value());
  EXPECT_THAT(late.actions, IsEmpty());
}

TEST_F(JobFinishTest, EveryProcessWithASessionIsToldTheOutcome) {
  finish_.Decide({absl::DataLossError("torn"), "ps 0"});
  std::vector<uint64_t> told;
  for (const CoordinatorAction& action : finish_.Tell(membership_, "text")) {
    const auto& send = std::get<SendAction>(action);
    told.push_back(send.session);
    const auto& end = std::get<JobEnd>(send.message);
    EXPECT_EQ(end.status, absl::DataLossError("torn"));
    EXPECT_EQ(end.summary, "text");
  }
  EXPECT_THAT(told, ElementsAre(1, 2));
  EXPECT_EQ(finish_.Refusal(),
            absl::FailedPreconditionError("the job is over: torn"));
  const JobReport report = Report(JobPhase::kEnding);
  EXPECT_EQ(report.first, "ps 0");
  EXPECT_TRUE(report.over);
  EXPECT_FALSE(report.finished);
  EXPECT_FALSE(report.stopped);
  EXPECT_TRUE(Report(JobPhase::kFinished).finished);
}

TEST_F(JobFinishTest, TheCodeSaysWhetherTheJobLostAProcess) {
  JobFinish lost;
  lost.Decide({absl::DeadlineExceededError("no worker"), "", false, true});
  EXPECT_EQ(lost.Message("").status, absl::UnavailableError("no worker"));
  EXPECT_TRUE(LostProcess(lost.Message("").status));
  EXPECT_EQ(lost.Refusal(), absl::AbortedError("the job is over: no worker"));
  EXPECT_TRUE(RefusedByLostJob(lost.Refusal()));
  JobFinish failed;
  failed.Decide({absl::UnavailableError("the disk is away"), "ps 0"});
  EXPECT_EQ(failed.Message("").status,
            absl::AbortedError("the disk is away"));
  EXPECT_FALSE(RefusedByLostJob(failed.Refusal()));
}

TEST_F(JobFinishTest, AJobThatWasCancelledWasStopped) {
  finish_.Decide(JobFinish::OnStop(absl::OkStatus(), "ps 0"));
  const JobReport report = Report(JobPhase::kEnding);
  EXPECT_EQ(report.status, absl::CancelledError("the job was stopped"));
  EXPECT_EQ(report.first, "ps 0");
  EXPECT_TRUE(report.stopped);
}

TEST_F(JobFinishTest, AJobThatWentWellTakesNoMoreProcesses) {
  finish_.Decide({});
  EXPECT_EQ(finish_.Refusal(),
            absl::FailedPreconditionError("the job is over"));
}

TEST_F(JobFinishTest, AProcessThatSaysNoByeIsNamed) {
  EXPECT_EQ(JobFinish::NoBye(worker_, absl::Seconds(2)),
            absl::DeadlineExceededError(
                "worker 0 did not leave within 2s of the job's end"));
}

}  // namespace
}  // namespace shoal
