// Who ended a job that did not end well.

#include "gtest/gtest.h"
#include "tests/coordinator/coordinator_state_fixture.h"
#include "tests/coordinator/coordinator_state_save_fixture.h"

namespace shoal {
namespace {

TEST_F(CoordinatorStateTest, AJobThatEndsWellHasNoFirst) {
  JoinAll();
  const JobReport report = state_->Report(now_);
  EXPECT_EQ(report.first, "");
  EXPECT_FALSE(report.stopped);
}

TEST_F(CoordinatorStateTest, WhoFailsIsFirst) {
  JoinAll();
  Tell(4, Failure{absl::DataLossError("the table is full")});
  Tell(1, Failure{absl::DataLossError("a consequence")});
  const JobReport report = state_->Report(now_);
  EXPECT_EQ(report.first, "worker 1");
  EXPECT_FALSE(report.stopped);
}

TEST_F(CoordinatorStateTest, AServerThatDiesIsFirst) {
  JoinAll();
  Ask(3);
  Do(state_->OnSessionEnd(2, absl::UnavailableError("reset"), now_));
  const JobReport report = state_->Report(now_);
  EXPECT_EQ(report.first, "ps 1");
  EXPECT_FALSE(report.stopped);
}

TEST_F(CoordinatorStateTest, WhoWasStoppedIsFirstAndSaidToBe) {
  JoinAll();
  Tell(2, Failure{absl::CancelledError("ps 1 was stopped by SIGTERM")});
  const JobReport report = state_->Report(now_);
  EXPECT_EQ(report.first, "ps 1");
  EXPECT_TRUE(report.stopped);
}

TEST_F(CoordinatorStateTest, TheCoordinatorsProcessIsFirstWhereItStops) {
  options_.process = "ps 0";
  Restart();
  JoinAll();
  Do(state_->Stop(absl::CancelledError("ps 0 was stopped"), now_));
  const JobReport report = state_->Report(now_);
  EXPECT_EQ(report.first, "ps 0");
  EXPECT_TRUE(report.stopped);
}

TEST_F(CoordinatorStateTest, ADeadlineIsNobodys) {
  Join(Role::kPs, 0);
  Pass(options_.start_deadline + absl::Seconds(1), {1});
  const JobReport report = state_->Report(now_);
  EXPECT_FALSE(report.status.ok());
  EXPECT_EQ(report.first, "");
  EXPECT_FALSE(report.stopped);
}

TEST_F(CoordinatorStateSaveTest, WhoAskedForAStopIsFirstOnceTheJobIsSaved) {
  JoinAll();
  const Lease lease = Ask(3);
  Report(3, lease, 30);
  MarkBoth(lease, 0);
  Tell(2, StopRequest{absl::CancelledError("ps 1 was stopped")});
  EXPECT_EQ(state_->Report(now_).first, "") << "it has not ended";
  SaveAll();
  EXPECT_EQ(state_->Report(now_).first, "ps 1");
  EXPECT_TRUE(state_->Report(now_).stopped);
}

TEST_F(CoordinatorStateSaveTest, AStopThatCannotSaveIsAStopStill) {
  options_.process = "ps 0";
  Restart();
  JoinAll();
  const Lease lease = Ask(3);
  MarkBoth(lease, 0);
  Do(state_->SaveAndStop(absl::CancelledError("SIGTERM"), now_));
  HoldWorkers({4});  // worker 0 beats, but never holds
  Pass(options_.checkpoints.stop_deadline + absl::Seconds(1));
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(state_->Report(now_).first, "ps 0");
  EXPECT_TRUE(state_->Report(now_).stopped);
}

}  // namespace
}  // namespace shoal
