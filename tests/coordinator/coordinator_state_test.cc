#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/coordinator_state_fixture.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// ---- Start

TEST_F(CoordinatorStateTest, AJobThatGathersIsInItsFirstEpoch) {
  options_.num_epochs = 3;
  Restart();
  EXPECT_EQ(state_->Report(now_).epoch, 0u);
}

TEST_F(CoordinatorStateTest, TheViewComesWithTheLastPsWhateverTheOrder) {
  const uint64_t worker = Join(Role::kWorker, 0);
  const uint64_t ps1 = Join(Role::kPs, 1);
  EXPECT_THAT(Heard<ClusterView>(worker), IsEmpty());
  const uint64_t ps0 = Join(Role::kPs, 0);
  const uint64_t late = Join(Role::kWorker, 1);
  for (const uint64_t session : {worker, ps1, ps0, late}) {
    const auto views = Heard<ClusterView>(session);
    ASSERT_THAT(views, SizeIs(1));
    EXPECT_EQ(views[0].map_version, 1u);
    ASSERT_THAT(views[0].ps, SizeIs(2));
    EXPECT_EQ(views[0].ps[0].address, "h0:1");
    EXPECT_EQ(views[0].ps[1].life, (Life{1, 2}));
  }
}

TEST_F(CoordinatorStateTest, TheFirstLeaseWaitsForTheExpectedWorkers) {
  for (int i = 0; i < 2; ++i) Join(Role::kPs, i);
  const uint64_t worker = Join(Role::kWorker, 0);
  Tell(worker, LeaseRequest{});
  Pass(absl::Seconds(1));
  EXPECT_THAT(Heard<LeaseGrant>(worker), IsEmpty());
  Join(Role::kWorker, 1);
  EXPECT_THAT(Heard<LeaseGrant>(worker), SizeIs(1));
}

TEST_F(CoordinatorStateTest, ButNoLongerThanTheGrace) {
  for (int i = 0; i < 2; ++i) Join(Role::kPs, i);
  const uint64_t worker = Join(Role::kWorker, 0);
  Tell(worker, LeaseRequest{});
  Pass(options_.worker_grace + absl::Milliseconds(250));
  EXPECT_THAT(Heard<LeaseGrant>(worker), SizeIs(1));
}

TEST_F(CoordinatorStateTest, FilesOfHostsWaitForAllAndAreReadWhereTheyAre) {
  options_.scopes.train_by_host = true;
  Restart();
  for (int i = 0; i < 2; ++i) Join(Role::kPs, i);
  const uint64_t second = Join(Role::kWorker, 1);
  Tell(second, LeaseRequest{});
  Pass(options_.worker_grace + absl::Seconds(1), {1, 2, second});
  EXPECT_THAT(Heard<LeaseGrant>(second), IsEmpty()) << "no grace";
  train_ = {{"c", 100, 3}};
  const uint64_t first = Join(Role::kWorker, 0);
  // Job's files: c of worker 0, then a and b of worker 1, a piece each.
  const Lease c = Ask(first);
  EXPECT_EQ(c.piece.index, 0u);
  EXPECT_EQ(c.piece.source, 0u);
  const auto grants = Heard<LeaseGrant>(second);
  ASSERT_THAT(grants, SizeIs(1));
  EXPECT_EQ(grants[0].lease.piece.index, 1u);
  EXPECT_EQ(grants[0].lease.piece.source, 0u) << "the first of its own";
  EXPECT_EQ(Ask(second).piece.source, 1u);
  Tell(first, LeaseRequest{});
  EXPECT_THAT(Heard<LeaseGrant>(first), SizeIs(1)) << "nothing else is its own";
  // What only it can read fails with it.
  Tell(second, LeaseFailed{grants[0].lease.number,
                           absl::NotFoundError("no such file")});
  EXPECT_THAT(Why(), AllOf(HasSubstr("worker 1 cannot read"), HasSubstr("a")));
}

TEST_F(CoordinatorStateTest, FilesOfAHostThatNeverComesAreNamed) {
  options_.scopes.train_by_host = true;
  Restart();
  for (int i = 0; i < 2; ++i) Join(Role::kPs, i);
  Join(Role::kWorker, 1);
  Pass(options_.start_deadline + absl::Seconds(1), {1, 2, 3});
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(Why(), HasSubstr("worker 0; with --data_scope=host it begins"));
}

TEST_F(CoordinatorStateTest, AMissingPsIsNamedWithItsPlace) {
  Join(Role::kPs, 0);
  Join(Role::kWorker, 0);
  Pass(options_.start_deadline + absl::Seconds(1));
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(Why(),
              AllOf(HasSubstr("ps 1 (at h1:1)"), Not(HasSubstr("ps 0"))));
  ExpectEnded({1, 2});
}

TEST_F(CoordinatorStateTest, AJobWithoutWorkersEndsSayingSo) {
  for (int i = 0; i < 2; ++i) Join(Role::kPs, i);
  Pass(options_.start_deadline + absl::Seconds(1));
  EXPECT_THAT(Why(), HasSubstr("no worker is alive"));
}

TEST_F(CoordinatorStateTest, OnceTheJobIsOverNobodyMayJoin) {
  JoinAll();
  Do(state_->Stop(absl::CancelledError("interrupted"), now_));
  const auto reply = state_->Register(Request(Role::kWorker, 7), now_);
  EXPECT_EQ(reply.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(reply.status().message()),
              HasSubstr("job is over: interrupted"));
}

// ---- The way through

TEST_F(CoordinatorStateTest, AJobEndsWhenAllShardsHaveReported) {
  JoinAll();
  Train(3, 25);
  Train(4, 10);
  ASSERT_THAT(Heard<ReportShard>(1), SizeIs(1));
  Tell(1, ShardReport{});
  Tell(1, ShardReport{});
  EXPECT_THAT(Heard<JobEnd>(1), IsEmpty()) << "ps 1 has not reported";
  Tell(2, ShardReport{});
  ExpectEnded({1, 2, 3, 4});
  EXPECT_TRUE(JobStatus().ok());
  const JobReport report = state_->Report(now_);
  EXPECT_EQ(report.samples, 35u);
  EXPECT_TRUE(report.total_known);
  EXPECT_EQ(report.trained, 35u);
  EXPECT_EQ(report.batches, 4u);
  EXPECT_DOUBLE_EQ(report.fraction_done, 1);
  for (const uint64_t session : {3, 4, 1}) Tell(session, Bye{});
  EXPECT_EQ(finished_, 0);
  Tell(2, Bye{});
  EXPECT_EQ(finished_, 1);
  for (const auto& [session, status] : ended_) EXPECT_TRUE(status.ok());
}

TEST_F(CoordinatorStateTest, LeaseDoneAloneTrainsNothing) {
  JoinAll();
  const Lease lease = Ask(3);
  Report(3, lease, 10);
  Tell(3, LeaseDone{lease.number});
  Mark1(1, lease, 0);
  EXPECT_EQ(state_->Report(now_).trained, 0u);
  Mark1(2, lease, 0);
  EXPECT_EQ(state_->Report(now_).trained, 10u);
}

TEST_F(CoordinatorStateTest, EpochsHaveNoBarrierAndEachCounts) {
  options_.num_epochs = 2;
  train_.resize(1);
  Restart();
  JoinAll();
  const Lease first = Ask(3);
  const Lease second = Ask(4);
  EXPECT_EQ(first.epoch, 0u);
  EXPECT_EQ(second.epoch, 1u);
  Report(3, first, 15);
  EXPECT_EQ(state_->Report(now_).samples, 30u);
  for (const Lease& lease : {second, first}) {
    MarkBoth(lease, 0);
    MarkBoth(lease, 1);
  }
  EXPECT_EQ(state_->Report(now_).trained, 30u);
  EXPECT_THAT(Heard<ReportShard>(2), SizeIs(1));
}

TEST_F(CoordinatorStateTest, OnlyEmptyFilesAreAnError) {
  train_ = {{"a", 0, 0}};
  for (const uint64_t eval_bytes : {0, 100}) {
    if (eval_bytes > 0) eval_ = {{"e", eval_bytes, 1}};
    Restart();
    JoinAll();
    EXPECT_EQ(JobStatus().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(Why(), "all files of --training_data_dir are empty");
  }
  options_.task = JobTask::kEvaluate;
  eval_ = {{"e", 0, 0}};
  Restart();
  JoinAll();
  EXPECT_EQ(Why(), "all files of --val_data_dir are empty");
}

// ---- Figures

TEST_F(CoordinatorStateTest, ReportsWhoIsAliveAndHowFarTheJobIs) {
  JoinAll();
  EXPECT_TRUE(state_->Report(now_).started);
  Train(3, 20);
  Do(state_->OnSessionEnd(4, absl::OkStatus(), now_));
  const JobReport report = state_->Report(now_);
  ASSERT_THAT(report.workers, SizeIs(2));
  EXPECT_TRUE(report.workers[0].alive);
  EXPECT_FALSE(report.workers[1].alive);
  ASSERT_THAT(report.ps, SizeIs(2));
  EXPECT_EQ(report.ps[1].address, "h1:1");
  EXPECT_DOUBLE_EQ(report.fraction_done, 0.5);
  EXPECT_FALSE(report.total_known);
  EXPECT_FALSE(report.finished);
}

TEST_F(CoordinatorStateTest, SpeedIsOfTheLedger) {
  JoinAll();
  const Lease lease = Ask(3);
  Report(3, lease, 1000);
  for (uint32_t i = 0; i < 40; ++i) {
    MarkBoth(lease, i);
    Pass(absl::Milliseconds(250));
  }
  EXPECT_NEAR(state_->Report(now_).samples_per_second, 40, 2);
}

TEST_F(CoordinatorStateTest, TheSteadyWindowOpensAfterTheWarmUp) {
  options_.warmup_steps = 2;
  train_.resize(1);
  Restart();
  JoinAll();
  const Lease lease = Ask(3);
  Report(3, lease, 50);
  for (uint32_t i = 0; i < 5; ++i) {
    Pass(absl::Seconds(1));
    MarkBoth(lease, i);
  }
  Pass(absl::Seconds(7));
  const JobReport report = state_->Report(now_);
  EXPECT_EQ(report.steady_samples, 30u);
  EXPECT_DOUBLE_EQ(report.steady_wall_seconds, 3);
  EXPECT_EQ(report.wall, absl::Seconds(12));
}

}  // namespace
}  // namespace shoal
