// Deaths, failures and processes that break the protocol.

#include <string>
#include <vector>

#include "core/job_loss.h"
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

TEST_F(CoordinatorStateTest, TheReportNamesWhomTheJobWaitsFor) {
  EXPECT_EQ(state_->Report(now_).waiting_for, "ps 0, ps 1, worker 0, worker 1");
  Join(Role::kPs, 0);
  Join(Role::kWorker, 1);
  EXPECT_EQ(state_->Report(now_).waiting_for, "ps 1, worker 0");
  Join(Role::kPs, 1);
  Join(Role::kWorker, 0);
  EXPECT_EQ(state_->Report(now_).waiting_for, "");
}

// ---- Workers that die

TEST_F(CoordinatorStateTest, ADeadWorkersBatchesAreLeasedToAnother) {
  JoinAll();
  const Lease lease = Ask(3);
  Report(3, lease, 30);
  MarkBoth(lease, 0);
  Mark1(1, lease, 1);
  Do(state_->OnSessionEnd(3, absl::UnavailableError("reset"), now_));
  ASSERT_EQ(ended_.count(3), 1u);
  const Lease again = Ask(4);
  EXPECT_EQ(again.piece.index, lease.piece.index);
  EXPECT_TRUE(again.Skips(0));
  EXPECT_FALSE(again.Skips(1)) << "one shard lacks it";
  EXPECT_FALSE(again.Skips(2));
  // Shard 1 refuses the repeat, shard 2 applies.
  repeats_[1] = 1;
  Tell(1,
       MarkDelta{{Mark{{0, 0, 1}, Verdict::kApplied, again.number, true}}, 1});
  Mark1(2, again, 1);
  MarkBoth(again, 2);
  const JobReport report = state_->Report(now_);
  EXPECT_EQ(report.trained, 30u);
  EXPECT_EQ(report.mended, 1u);
  EXPECT_EQ(report.recomputed, 1u);
  EXPECT_EQ(report.repeats_refused, 1u);
  EXPECT_TRUE(report.status.ok());
}

// Its first pass found a NaN, which the next one need not find: the weights
// have moved on.
TEST_F(CoordinatorStateTest, ARejectedBatchIsLeasedAgainWithItsVerdict) {
  JoinAll();
  const Lease lease = Ask(3);
  Report(3, lease, 40);
  Mark1(1, lease, 0, Verdict::kRejected);
  Mark1(2, lease, 0, Verdict::kRejected);
  Mark1(1, lease, 1, Verdict::kRejected);
  Mark1(1, lease, 2);
  Do(state_->OnSessionEnd(3, absl::UnavailableError("reset"), now_));
  const Lease again = Ask(4);
  ASSERT_EQ(again.piece.index, lease.piece.index);
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(again.Rejected(i), i == 1) << i;
  EXPECT_FALSE(again.Skips(1));
  Mark1(2, again, 1, Verdict::kRejected);
  Mark1(2, again, 2);
  MarkBoth(again, 3);
  EXPECT_TRUE(JobStatus().ok()) << JobStatus();
  EXPECT_EQ(state_->Report(now_).rejected, 20u);
  EXPECT_EQ(state_->Report(now_).trained, 20u);
}

TEST_F(CoordinatorStateTest, ASilentWorkerIsTakenForDeadAndItsWordsIgnored) {
  JoinAll();
  const Lease lease = Ask(3);
  Pass(options_.silent_after + absl::Milliseconds(500), {1, 2, 4});
  ASSERT_EQ(ended_.count(3), 1u);
  EXPECT_THAT(std::string(ended_[3].message()),
              HasSubstr("worker 0 was silent"));
  EXPECT_EQ(Ask(4).piece.index, lease.piece.index);
  Report(3, lease, 999);
  EXPECT_EQ(state_->Report(now_).samples, 0u);
  EXPECT_TRUE(JobStatus().ok());
  Join(Role::kWorker, 0);  // it wakes up, with a new life
}

TEST_F(CoordinatorStateTest, ACoordinatorThatWasFrozenTakesNobodyForDead) {
  JoinAll();
  now_ += absl::Seconds(30);
  Do(state_->Tick(now_));
  EXPECT_THAT(ended_, IsEmpty());
  Pass(absl::Seconds(2));
  EXPECT_THAT(ended_, IsEmpty());
  EXPECT_TRUE(JobStatus().ok());
}

TEST_F(CoordinatorStateTest, AWorkerThatLeavesReturnsItsLeases) {
  JoinAll();
  const Lease lease = Ask(3);
  Tell(3, Bye{});
  EXPECT_TRUE(ended_[3].ok());
  EXPECT_EQ(Ask(4).piece.index, lease.piece.index);
}

TEST_F(CoordinatorStateTest, WithAllWorkersGoneForLongTheJobEnds) {
  JoinAll();
  Tell(3, Bye{});
  Tell(4, Bye{});
  Pass(options_.start_deadline - absl::Seconds(1), {1, 2});
  EXPECT_TRUE(JobStatus().ok());
  Pass(absl::Seconds(2), {1, 2});
  EXPECT_THAT(Why(), HasSubstr("no worker is alive"));
  EXPECT_TRUE(LostProcess(JobStatus()));
}

TEST_F(CoordinatorStateTest, AWaitingRequestOfADeadWorkerIsDropped) {
  JoinAll();
  Ask(3);
  Ask(3);
  Tell(4, LeaseRequest{});
  Do(state_->OnSessionEnd(4, absl::OkStatus(), now_));
  Do(state_->OnSessionEnd(3, absl::OkStatus(), now_));
  const uint64_t back = Join(Role::kWorker, 0);
  Ask(back);
  Ask(back);
}

TEST_F(CoordinatorStateTest, AStragglersPieceIsCopiedBackwards) {
  train_.resize(1);
  JoinAll();
  const Lease lease = Ask(3);
  EXPECT_FALSE(lease.backwards);
  Tell(4, LeaseRequest{});
  EXPECT_THAT(Heard<LeaseGrant>(4), IsEmpty());
  Pass(options_.speculate_after + absl::Milliseconds(250));
  ASSERT_THAT(Heard<LeaseGrant>(4), SizeIs(1));
  EXPECT_TRUE(Heard<LeaseGrant>(4)[0].lease.backwards);
}

TEST_F(CoordinatorStateTest, AHeldLeaseLivesAsLongAsItsHolderBeats) {
  train_.resize(1);
  options_.speculate_after = absl::Hours(1);
  Restart();
  JoinAll();
  Ask(3);
  Tell(4, LeaseRequest{});
  Pass(3 * options_.worker_lease);
  EXPECT_THAT(Heard<LeaseGrant>(4), IsEmpty());
}

TEST_F(CoordinatorStateTest, NothingTrainedForLongNamesWhoHoldsWhat) {
  options_.progress_deadline = absl::Seconds(60);
  Restart();
  JoinAll();
  Ask(3);
  Pass(absl::Seconds(61));
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(Why(), HasSubstr("worker 0 holds training piece 0 (a, bytes"));
}

TEST_F(CoordinatorStateTest, APieceThatNobodyCanReadEndsTheJob) {
  JoinAll();
  const Lease first = Ask(3);
  Tell(3, LeaseFailed{first.number, absl::NotFoundError("/d/a: gone")});
  EXPECT_TRUE(JobStatus().ok()) << "worker 1 may be able to";
  const Lease second = Ask(4);
  EXPECT_EQ(second.piece.index, first.piece.index);
  Tell(4, LeaseFailed{second.number, absl::NotFoundError("/d/a: gone")});
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Why(), AllOf(HasSubstr("worker 1 cannot read training piece 0"),
                           HasSubstr("/d/a: gone")));
}

// ---- Connections that break

TEST_F(CoordinatorStateTest, ABrokenConnectionSuspendsALifeAndLosesNothing) {
  JoinAll();
  const Lease lease = Ask(3);
  Tell(3, LeaseRequest{});  // answered with the second piece
  Tell(3, LeaseRequest{});  // waits
  Do(state_->OnConnectionLost(3, absl::UnavailableError("reset"), now_));
  Do(state_->OnConnectionLost(2, absl::UnavailableError("reset"), now_));
  EXPECT_TRUE(ended_.empty());
  EXPECT_TRUE(JobStatus().ok());
  // Its pieces may be leased again, without the wait for a straggler's.
  EXPECT_TRUE(Ask(4).backwards);
  Pass(absl::Seconds(4), {1, 4});
  for (const uint64_t session : {3, 2}) {
    const auto resumed =
        state_->ResumeSession({Life{1, static_cast<uint32_t>(session)}, true},
                              now_);
    ASSERT_TRUE(resumed.ok()) << resumed.status();
    EXPECT_EQ(*resumed, session);
  }
  Pass(absl::Seconds(10));
  EXPECT_TRUE(ended_.empty());
  EXPECT_TRUE(JobStatus().ok()) << JobStatus();
  // The lease is still its own, and so is the request that waited.
  Report(3, lease, 10);
  MarkBoth(lease, 0);
  Tell(3, LeaseDone{lease.number});
  EXPECT_EQ(state_->Report(now_).trained, 10u);
}

TEST_F(CoordinatorStateTest, WhoDoesNotComeBackDied) {
  JoinAll();
  Do(state_->OnConnectionLost(3, absl::UnavailableError("reset"), now_));
  Pass(options_.silent_after + absl::Milliseconds(500), {1, 2, 4});
  EXPECT_EQ(ended_.count(3), 1u);
  EXPECT_TRUE(JobStatus().ok());
  const auto late = state_->ResumeSession({Life{1, 3}, true}, now_);
  EXPECT_TRUE(absl::IsFailedPrecondition(late.status())) << late.status();
  Do(state_->OnConnectionLost(2, absl::UnavailableError("reset"), now_));
  Pass(options_.silent_after + absl::Milliseconds(500), {1, 4});
  EXPECT_THAT(Why(), AllOf(HasSubstr("ps 1 (h1:1) died"),
                           HasSubstr("did not come back within 5s")));
}

TEST_F(CoordinatorStateTest, ASuccessorEndsASuspendedLifeAtOnce) {
  JoinAll();
  EXPECT_TRUE(absl::IsAlreadyExists(
      state_->Register(Request(Role::kWorker, 0), now_).status()));
  Do(state_->OnConnectionLost(3, absl::UnavailableError("reset"), now_));
  now_ += absl::Milliseconds(1);
  Join(Role::kWorker, 0);
  EXPECT_EQ(ended_.count(3), 1u);
  EXPECT_TRUE(JobStatus().ok());
  // A PS that came again has no state.
  Do(state_->OnConnectionLost(2, absl::UnavailableError("reset"), now_));
  EXPECT_FALSE(state_->Register(Request(Role::kPs, 1), now_).ok());
  EXPECT_THAT(Why(), AllOf(HasSubstr("ps 1 (h1:1) died"),
                           HasSubstr("another process took its place")));
}

TEST_F(CoordinatorStateTest, ARefusedPortEndsASuspendedLifeAtOnce) {
  JoinAll();
  Do(state_->OnProbed(2, /*refused=*/true, now_));
  EXPECT_TRUE(JobStatus().ok()) << "it is not suspended";
  Do(state_->OnConnectionLost(2, absl::UnavailableError("reset"), now_));
  Do(state_->OnProbed(2, /*refused=*/false, now_));
  EXPECT_TRUE(JobStatus().ok());
  Do(state_->OnProbed(2, /*refused=*/true, now_));
  EXPECT_THAT(Why(), AllOf(HasSubstr("ps 1 (h1:1) died"),
                           HasSubstr("its address refuses new connections"),
                           HasSubstr("its shard's state is lost")));
}

TEST_F(CoordinatorStateTest, AShardThatLostMarksCannotComeBack) {
  JoinAll();
  Train(3, 10);
  Do(state_->OnConnectionLost(2, absl::UnavailableError("reset"), now_));
  SessionOpening opening{Life{1, 2}, true};
  EXPECT_FALSE(state_->ResumeSession(opening, now_).ok());
  EXPECT_THAT(Why(), HasSubstr("came back with fewer batches than it had"));
}

// ---- Failures

TEST_F(CoordinatorStateTest, APsWhoseSessionEndsEndsTheJob) {
  JoinAll();
  Do(state_->OnSessionEnd(2, absl::UnavailableError("connection reset"), now_));
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(
      Why(), AllOf(HasSubstr("ps 1 (h1:1) died"), HasSubstr("connection reset"),
                   HasSubstr("its shard's state is lost")));
  ExpectEnded({1, 3, 4});
}

TEST_F(CoordinatorStateTest, ASilentPsEndsTheJob) {
  JoinAll();
  Pass(options_.silent_after + absl::Milliseconds(500), {1, 3, 4});
  EXPECT_THAT(Why(), HasSubstr("ps 1 (h1:1) was silent for more than 5s"));
  EXPECT_EQ(ended_[2].code(), absl::StatusCode::kDeadlineExceeded);
}

// Before the first lease it has no state that is not to be had again.
TEST_F(CoordinatorStateTest, APsThatDiesWhileTheJobGathersMayBeReplaced) {
  sessions_ = 0;
  Join(Role::kPs, 0);
  Join(Role::kPs, 1);
  Join(Role::kWorker, 0);
  ASSERT_THAT(Heard<ClusterView>(3), SizeIs(1));
  Do(state_->OnConnectionLost(2, absl::UnavailableError("reset"), now_));
  Do(state_->OnProbed(2, /*refused=*/true, now_));
  EXPECT_EQ(ended_.count(2), 1u);
  EXPECT_TRUE(JobStatus().ok()) << JobStatus();
  EXPECT_THAT(logs_.back(),
              AllOf(HasSubstr("ps 1 (h1:1) died"),
                    HasSubstr("another process may take its place")));
  Pass(absl::Seconds(20), {1, 3});
  EXPECT_EQ(state_->Report(now_).waiting_for, "ps 1, worker 1");
  EXPECT_EQ(Join(Role::kPs, 1), 4u);
  const auto views = Heard<ClusterView>(3);
  ASSERT_THAT(views, SizeIs(2));
  EXPECT_EQ(views[0].ps[0].life, views[1].ps[0].life);
  EXPECT_LT(views[0].ps[1].life, views[1].ps[1].life);
  EXPECT_EQ(Join(Role::kWorker, 1), 5u);
  const Lease lease = Ask(3);
  Report(3, lease, 10);
  for (const uint64_t ps : {1, 4}) Mark1(ps, lease, 0);
  EXPECT_EQ(state_->Report(now_).trained, 10u);
  // From now on it has.
  Do(state_->OnSessionEnd(4, absl::UnavailableError("reset"), now_));
  EXPECT_THAT(Why(), HasSubstr("its shard's state is lost"));
}

TEST_F(CoordinatorStateTest, APsThatDiedIsWaitedForUntilTheStartDeadline) {
  sessions_ = 0;
  Join(Role::kPs, 0);
  Join(Role::kPs, 1);
  Do(state_->OnSessionEnd(2, absl::UnavailableError("reset"), now_));
  Pass(options_.start_deadline - absl::Seconds(1), {1});
  EXPECT_TRUE(JobStatus().ok()) << JobStatus();
  Pass(absl::Seconds(2), {1});
  EXPECT_THAT(Why(), HasSubstr("the job still lacks ps 1 (at h1:1)"));
  EXPECT_FALSE(LostProcess(JobStatus())) << "it was never there";
}

TEST_F(CoordinatorStateTest, APsThatLeavesEarlyEndsTheJob) {
  JoinAll();
  Tell(1, Bye{});
  EXPECT_THAT(Why(), HasSubstr("ps 0 (h0:1) left before"));
}

TEST_F(CoordinatorStateTest, TheFirstFailureIsTheCause) {
  JoinAll();
  Tell(4, Failure{absl::InternalError("no memory")});
  Tell(3, Failure{absl::InternalError("lost a shard")});
  Do(state_->OnSessionEnd(1, absl::UnavailableError("reset"), now_));
  EXPECT_EQ(JobStatus(), absl::InternalError("worker 1: no memory"));
  Tell(3, Bye{});
  Tell(4, Bye{});
  Tell(2, Bye{});
  EXPECT_EQ(finished_, 1);
}

TEST_F(CoordinatorStateTest, AFailureThatSaysNothingIsOneToo) {
  JoinAll();
  Tell(4, Failure{});
  EXPECT_FALSE(JobStatus().ok());
}

TEST_F(CoordinatorStateTest, AfterTheLastBatchAWorkersFailureIsNone) {
  JoinAll();
  Train(3, 10);
  Train(3, 10);
  ASSERT_THAT(Heard<ReportShard>(1), SizeIs(1));
  Tell(4, Failure{absl::InternalError("a copy's push")});
  Do(state_->OnSessionEnd(3, absl::UnavailableError("reset"), now_));
  Tell(1, ShardReport{});
  Tell(2, ShardReport{});
  EXPECT_TRUE(JobStatus().ok());
}

TEST_F(CoordinatorStateTest, ATornBatchEndsTheJob) {
  JoinAll();
  const Lease lease = Ask(3);
  Mark1(1, lease, 0);
  Mark1(2, lease, 0, Verdict::kRejected);
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Why(), HasSubstr("batch (0,0,0) is torn"));
}

TEST_F(CoordinatorStateTest, AChangedFileEndsTheJob) {
  JoinAll();
  const Lease lease = Ask(3);
  Report(3, lease, 10);
  Report(4, lease, 11);
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Why(), HasSubstr("worker 1: training piece 0 (a, bytes"));
}

TEST_F(CoordinatorStateTest, TooManyBadRowsNameTheFirst) {
  options_.max_bad_rows = 2;
  Restart();
  JoinAll();
  Tell(3, PieceReport{LeasePurpose::kTrain, 0, 0, 10, 2, 1, "a:7: no label"});
  EXPECT_TRUE(JobStatus().ok());
  EXPECT_EQ(state_->Report(now_).bad_rows, 2u);
  Tell(3, PieceReport{LeasePurpose::kTrain, 0, 1, 10, 1, 1, "b:1: x"});
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Why(), AllOf(HasSubstr("3 rows"), HasSubstr("a:7: no label")));
}

TEST_F(CoordinatorStateTest, AShardThatDoesNotReportIsNamed) {
  JoinAll();
  Train(3, 10);
  Train(3, 10);
  Tell(1, ShardReport{});
  Pass(options_.report_deadline + absl::Seconds(1));
  EXPECT_THAT(Why(), AllOf(HasSubstr("ps 1 (h1:1) did not report"),
                           Not(HasSubstr("ps 0"))));
}

TEST_F(CoordinatorStateTest, WhoSaysNoByeIsNotWaitedForForEver) {
  JoinAll();
  Do(state_->Stop(absl::CancelledError("stop"), now_));
  Tell(1, Bye{});
  Pass(options_.linger + absl::Milliseconds(250), {2, 3, 4});
  EXPECT_EQ(finished_, 1);
  EXPECT_TRUE(ended_[1].ok());
  EXPECT_FALSE(ended_[2].ok());
}

TEST_F(CoordinatorStateTest, WhoOpensItsSessionAfterTheEndHearsOfIt) {
  JoinAll();
  const auto reply = state_->Register(Request(Role::kWorker, 5), now_);
  ASSERT_TRUE(reply.ok());
  Do(state_->Stop(absl::CancelledError("stop"), now_));
  Do(state_->OpenSession(9, reply->life, now_));
  EXPECT_THAT(Heard<JobEnd>(9), SizeIs(1));
}

// ---- Processes that break the protocol

TEST_F(CoordinatorStateTest, AWorkerThatBreaksTheProtocolLosesItsLife) {
  const std::vector<ProcessMessage> wrong = {
      PieceReport{LeasePurpose::kTrain, 0, 99, 10, 0, 1, ""},
      PieceReport{LeasePurpose::kTrain, 0, 0, 10, 0, 7, ""},
      MarkDelta{{Mark{{0, 0, 0}, Verdict::kApplied, 1, false}}, 0},
      ShardReport{},
  };
  for (const ProcessMessage& message : wrong) {
    Restart();
    JoinAll();
    const Lease lease = Ask(3);
    Tell(3, message);
    ASSERT_EQ(ended_.count(3), 1u) << message.index();
    EXPECT_EQ(ended_[3].code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(JobStatus().ok());
    EXPECT_EQ(Ask(4).piece.index, lease.piece.index);
  }
}

TEST_F(CoordinatorStateTest, APsThatBreaksTheProtocolEndsTheJob) {
  const std::vector<ProcessMessage> wrong = {
      LeaseRequest{},
      PieceReport{},
      EvalResult{},
      MarkDelta{{Mark{{0, 0, 0}, Verdict::kApplied, 1, true}}, 0},
  };
  for (const ProcessMessage& message : wrong) {
    Restart();
    JoinAll();
    Ask(3);
    Tell(2, message);
    EXPECT_THAT(Why(), HasSubstr("ps 1 (h1:1) broke the protocol"));
    ExpectEnded({1, 3, 4});
  }
}

// The shard has applied a push of a process outside the job.
TEST_F(CoordinatorStateTest, AMarkOfAPushFromOutsideTheJobEndsTheJob) {
  const Mark strays[] = {
      {{0, 0, 0}, Verdict::kApplied, 77, false},  // leases were 1 so far
      {{0, 0, 1}, Verdict::kApplied, 0, false},
      {{0, 0, (1u << 24) - 1}, Verdict::kApplied, 2, false},
      {{0, 0, 0}, Verdict::kApplied, 77, true},
      {{0, 99, 0}, Verdict::kApplied, 1, false},  // no such piece
      {{7, 0, 0}, Verdict::kApplied, 1, false},   // no such epoch
      {{0, 0, 1u << 24}, Verdict::kApplied, 1, false},
  };
  for (const Mark& stray : strays) {
    Restart();
    JoinAll();
    EXPECT_EQ(Ask(3).number, 1u);
    Tell(2, MarkDelta{{stray}, 0});
    EXPECT_EQ(JobStatus().code(), absl::StatusCode::kDataLoss) << stray.lease;
    EXPECT_THAT(Why(), HasSubstr("ps 1 (h1:1) took a push of batch " +
                                 ToString(stray.batch)));
    EXPECT_EQ(state_->Report(now_).batches, 0u);
  }
}

// A shard that serves too early has a mark that the ledger would not keep.
TEST_F(CoordinatorStateTest, AMarkWhileTheJobGathersEndsTheJob) {
  sessions_ = 0;
  Join(Role::kPs, 0);
  Tell(1, MarkDelta{{Mark{{0, 0, 0}, Verdict::kApplied, 1, false}}, 0});
  EXPECT_THAT(Why(), HasSubstr("ps 0 (h0:1) took a push of batch (0,0,0)"));
}

TEST_F(CoordinatorStateTest, TooManyLeaseRequestsAreRefused) {
  JoinAll();
  for (int i = 0; i < 100 && ended_.empty(); ++i) Tell(3, LeaseRequest{});
  EXPECT_EQ(ended_[3].code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace shoal
