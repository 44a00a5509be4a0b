// A job of a synchronous mode: its epochs are dealt to the lanes of its ranks.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/coordinator/coordinator_state_fixture.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Sessions 1 and 2 are the PSs, 3 and 4 the ranks 0 and 1.
class CoordinatorStateLanesTest : public CoordinatorStateTest {
 protected:
  CoordinatorStateLanesTest() {
    options_.lanes = true;
    Restart();
  }

  // `n` files of one piece each.
  void SetFiles(uint32_t n) {
    train_.clear();
    for (uint32_t i = 0; i < n; ++i) {
      train_.push_back({"f" + std::to_string(i), 100, i});
    }
  }
  // The rank trains the next lease of its lane. All pieces have `examples`.
  Lease TrainNext(uint64_t session, uint64_t examples) {
    const Lease lease = Ask(session);
    TrainLease(session, lease, examples);
    return lease;
  }
  void TrainLease(uint64_t session, const Lease& lease, uint64_t examples) {
    Report(session, lease, examples);
    for (uint32_t i = 0; i < (examples + 9) / 10; ++i) {
      if (!lease.Skips(i)) MarkBoth(lease, i);
    }
    Tell(session, LeaseDone{lease.number});
  }
  // Trains and marks an epoch of one batch for each rank, the last lease of
  // which rank 1 has not done yet. Rank 0 waits for its next lease.
  Lease TrainUpToTheLastWord() {
    TrainNext(3, 10);
    const Lease lease = Ask(4);
    Report(4, lease, 10);
    MarkBoth(lease, 0);
    AskInVain(3);
    return lease;
  }
  // A request that is not answered now.
  void AskInVain(uint64_t session) {
    const size_t before = Heard<LeaseGrant>(session).size();
    Tell(session, LeaseRequest{});
    EXPECT_THAT(Heard<LeaseGrant>(session), SizeIs(before));
  }
  Lease LastGrant(uint64_t session) {
    const auto grants = Heard<LeaseGrant>(session);
    EXPECT_FALSE(grants.empty());
    return grants.empty() ? Lease{} : grants.back().lease;
  }
};

TEST_F(CoordinatorStateLanesTest, TheJobWaitsForAllRanks) {
  for (int i = 0; i < 2; ++i) Join(Role::kPs, i);
  Join(Role::kWorker, 1);
  AskInVain(3);
  Pass(absl::Seconds(100), {1, 2, 3});
  EXPECT_THAT(Heard<LeaseGrant>(3), IsEmpty());
  EXPECT_EQ(state_->Report(now_).waiting_for, "worker 0");
  Join(Role::kWorker, 0);
  ASSERT_THAT(Heard<LeaseGrant>(3), SizeIs(1));
  EXPECT_EQ(LastGrant(3).piece.index, 1u) << "worker 1 is rank 1";
}

TEST_F(CoordinatorStateLanesTest, RanksThatDoNotComeAreNamed) {
  for (int i = 0; i < 2; ++i) Join(Role::kPs, i);
  Join(Role::kWorker, 1);
  Pass(absl::Seconds(121), {1, 2, 3});
  EXPECT_THAT(Why(), AllOf(HasSubstr("the job still lacks worker 0"),
                           HasSubstr("begins when all workers are there")));
}

TEST_F(CoordinatorStateLanesTest, AFurtherWorkerIsRefused) {
  for (const bool begun : {false, true}) {
    if (begun) JoinAll();
    const auto reply = state_->Register(Request(Role::kWorker, 2), now_);
    EXPECT_EQ(reply.status(),
              absl::InvalidArgumentError(
                  "worker 2: the index must be in [0, 2): the mode of this job "
                  "trains with a fixed number of workers"));
  }
}

TEST_F(CoordinatorStateLanesTest, AnyRankMayBeReplacedBeforeTheJobBegins) {
  Join(Role::kPs, 0);
  const uint64_t first = Join(Role::kWorker, 0);
  Do(state_->OnSessionEnd(first, absl::OkStatus(), now_));
  EXPECT_TRUE(JobStatus().ok()) << Why();
  Join(Role::kPs, 1);
  Join(Role::kWorker, 1);
  const uint64_t again = Join(Role::kWorker, 0);
  EXPECT_EQ(Ask(again).piece.index, 0u);
}

TEST_F(CoordinatorStateLanesTest, ARankThatLeavesEndsTheJob) {
  JoinAll();
  Tell(4, Bye{});
  EXPECT_EQ(JobStatus(),
            absl::CancelledError("worker 1 left before the job was over"));
}

TEST_F(CoordinatorStateLanesTest, APieceThatItsRankCannotReadEndsTheJob) {
  JoinAll();
  const Lease lease = Ask(4);
  Tell(4, LeaseFailed{lease.number, absl::NotFoundError("no such file")});
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Why(), HasSubstr("worker 1 cannot read training piece 1"));
}

// Five pieces for two ranks, asked for in any order.
TEST_F(CoordinatorStateLanesTest, AFastRankDoesNotTakeThePiecesOfASlowOne) {
  SetFiles(5);
  Restart();
  JoinAll();
  std::vector<Lease> lane;
  for (int i = 0; i < 3; ++i) lane.push_back(TrainNext(4, 20));
  EXPECT_EQ(lane[0].piece.index, 1u);
  EXPECT_EQ(lane[1].piece.index, 3u);
  EXPECT_EQ(lane[2].piece.index, 4u) << "dealt by batch";
  EXPECT_TRUE(lane[2].Skips(0));
  EXPECT_FALSE(lane[2].Skips(1));
  EXPECT_TRUE(lane[2].last_of_lane);
  EXPECT_FALSE(lane[1].last_of_lane);
  AskInVain(4);
  Pass(absl::Seconds(20));
  EXPECT_THAT(Heard<LeaseGrant>(4), SizeIs(3)) << "no copy";
  for (int i = 0; i < 3; ++i) TrainNext(3, 20);
  EXPECT_EQ(state_->Report(now_).trained, 100u);
  EXPECT_THAT(Heard<ReportShard>(1), SizeIs(1)) << "the job is trained";
}

TEST_F(CoordinatorStateLanesTest, AFileThatCannotBeCutIsTrainedByAllRanks) {
  train_ = {{"a.gz", 100, 1, /*compressed=*/true}};
  Restart();
  JoinAll();
  // Rank 1 has read it to the end before rank 0 begins.
  EXPECT_EQ(TrainNext(4, 30).stride, 2u);
  const Lease lease = TrainNext(3, 30);
  EXPECT_FALSE(lease.Skips(0));
  EXPECT_TRUE(lease.Skips(1));
  EXPECT_FALSE(lease.Skips(2));
  const JobReport report = state_->Report(now_);
  EXPECT_EQ(report.trained, 30u);
  EXPECT_EQ(report.recomputed, 0u);
  EXPECT_EQ(report.fraction_done, 1.0);
}

TEST_F(CoordinatorStateLanesTest, ASharedPieceCountsOnceInTheFractionDone) {
  train_ = {{"a.gz", 100, 1, true}, {"b.gz", 300, 2, true}};
  Restart();
  JoinAll();
  const Lease lease = Ask(3);
  EXPECT_EQ(Ask(4).piece.index, lease.piece.index);
  Report(3, lease, 20);
  MarkBoth(lease, 0);
  EXPECT_EQ(state_->Report(now_).fraction_done, 0.125);
}

TEST_F(CoordinatorStateLanesTest, FewerPiecesThanRanksAreDealtByBatch) {
  SetFiles(1);
  options_.num_workers = 3;
  Restart();
  JoinAll();
  Join(Role::kWorker, 2);
  for (const uint64_t session : {5, 3, 4}) {
    const Lease lease = Ask(session);
    EXPECT_EQ(lease.stride, 3u);
    EXPECT_EQ(lease.offset, session - 3);
    // One batch: lanes 1 and 2 have none.
    TrainLease(session, lease, 10);
  }
  EXPECT_EQ(state_->Report(now_).trained, 10u);
  EXPECT_THAT(Heard<ReportShard>(1), SizeIs(1));
}

TEST_F(CoordinatorStateLanesTest, EpochsHaveABarrier) {
  options_.num_epochs = 3;
  Restart();
  JoinAll();
  for (const uint64_t session : {3, 4}) Tell(session, LeaseRequest{});
  for (uint32_t epoch = 0; epoch < 3; ++epoch) {
    const Lease slow = LastGrant(3);
    const Lease fast = LastGrant(4);
    EXPECT_EQ(slow.epoch, epoch);
    EXPECT_EQ(fast.epoch, epoch);
    for (const uint64_t session : {3, 4}) Tell(session, LeaseRequest{});
    TrainLease(4, fast, 20);
    Report(3, slow, 20);
    Tell(3, LeaseDone{slow.number});
    MarkBoth(slow, 0);
    Mark1(1, slow, 1);
    EXPECT_THAT(Heard<LeaseGrant>(4), SizeIs(epoch + 1)) << "a mark is missing";
    Mark1(2, slow, 1);
  }
  EXPECT_EQ(state_->Report(now_).trained, 120u);
  EXPECT_THAT(Heard<ReportShard>(1), SizeIs(1));
}

TEST_F(CoordinatorStateLanesTest, AnEpochEndsWhenItsRanksSaySo) {
  options_.num_epochs = 2;
  Restart();
  JoinAll();
  Tell(4, LeaseDone{TrainUpToTheLastWord().number});
  EXPECT_EQ(LastGrant(3).epoch, 1u);
}

TEST_F(CoordinatorStateLanesTest, EvaluationWaitsForTheEndOfTheLanes) {
  options_.num_epochs = 2;
  eval_ = {{"e", 100, 7}};
  Restart();
  JoinAll();
  Tell(4, LeaseDone{TrainUpToTheLastWord().number});
  EXPECT_EQ(LastGrant(3).purpose, LeasePurpose::kEvaluate);
  const Lease eval = LastGrant(3);
  EvalResult result;
  result.lease = eval.number;
  result.epoch = eval.epoch;
  result.piece = eval.piece.index;
  result.logits = {0.5f, -0.5f};
  result.labels = {1, 0};
  Tell(3, PieceReport{eval.purpose, eval.epoch, eval.piece.index, 2, 0, 1, ""});
  Tell(3, result);
  Tell(3, LeaseDone{eval.number});
  EXPECT_EQ(Ask(4).epoch, 1u);
  EXPECT_EQ(Ask(3).epoch, 1u);
}

TEST_F(CoordinatorStateLanesTest, FilesOfAHostAreDealtToItsRanks) {
  options_.scopes.train_by_host = true;
  host_of_worker_ = {{0, "h1"}, {1, "h2"}};
  Restart();
  sessions_ = 0;
  for (int i = 0; i < 2; ++i) Join(Role::kPs, i);
  SetFiles(3);
  Join(Role::kWorker, 0);
  SetFiles(1);
  Join(Role::kWorker, 1);
  EXPECT_EQ(TrainNext(4, 10).piece.index, 3u);
  for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(TrainNext(3, 10).piece.index, i);
  EXPECT_EQ(state_->Report(now_).trained, 40u);
}

// ---- Steps that the PSs apply as one

class CoordinatorStateStepsTest : public CoordinatorStateLanesTest {
 protected:
  CoordinatorStateStepsTest() {
    options_.backup_workers = 0;
    options_.checkpoints.save = true;
    options_.checkpoints.model_dir = "m";
    options_.checkpoints.map.num_shards = 2;
    Restart();
  }

  // PS 0 has parked a push of a rank.
  void Park(uint64_t session, uint64_t step, const Lease& lease,
            uint32_t index) {
    const Life life{1, static_cast<uint32_t>(session)};
    Tell(1, StepParked{step, life,
                       {{lease.epoch, lease.piece.index, index},
                        lease.number, 10, false}});
  }
  StepClosed LastClosed(uint64_t ps) {
    const auto closed = Heard<StepClosed>(ps);
    EXPECT_FALSE(closed.empty());
    return closed.empty() ? StepClosed{} : closed.back();
  }
};

TEST_F(CoordinatorStateStepsTest, AStepIsClosedByWhatPs0HasOfTheOpenLanes) {
  JoinAll();
  const Lease lease0 = Ask(3);
  const Lease lease1 = Ask(4);
  Park(4, 1, lease1, 0);
  EXPECT_THAT(Heard<StepClosed>(1), IsEmpty());
  Park(3, 1, lease0, 0);
  for (const uint64_t ps : {1, 2}) {
    EXPECT_EQ(LastClosed(ps).step, 1u);
    EXPECT_THAT(LastClosed(ps).batches, SizeIs(2));
  }
  MarkBoth(lease0, 0);
  MarkBoth(lease1, 0);
  // Lane 1 ends, so step 2 does not wait for it.
  Report(4, lease1, 10);
  Park(3, 2, lease0, 1);
  EXPECT_EQ(LastClosed(1).step, 1u);
  Tell(4, LeaseDone{lease1.number});
  EXPECT_EQ(LastClosed(2).step, 2u);
}

TEST_F(CoordinatorStateStepsTest, OnlyPs0MayTellOfParkedPushes) {
  JoinAll();
  Ask(3);
  Tell(2, StepTakenOut{1, {1, 3}});
  EXPECT_EQ(ended_.count(2), 1u);
  EXPECT_THAT(Why(), HasSubstr("which only ps 0 may do"));
}

// The plant "dropped batch forgotten" deals nothing again, and the job hangs.
TEST_F(CoordinatorStateStepsTest, ADroppedBatchIsDealtAgainWhenAllIsMarked) {
  options_.backup_workers = 1;
  Restart();
  JoinAll();
  const Lease lease0 = Ask(3);
  const Lease lease1 = Ask(4);
  Report(3, lease0, 10);
  Report(4, lease1, 10);
  Park(4, 1, lease1, 0);
  EXPECT_THAT(LastClosed(1).batches, SizeIs(1));
  Park(3, 1, lease0, 0);  // too late
  for (const uint64_t session : {3, 4}) Tell(session, LeaseRequest{});
  Tell(3, LeaseDone{lease0.number});
  Tell(4, LeaseDone{lease1.number});
  EXPECT_THAT(Heard<LeaseGrant>(3), SizeIs(1)) << "marks are on their way";
  Mark1(1, lease1, 0);
  EXPECT_THAT(Heard<LeaseGrant>(3), SizeIs(1));
  Mark1(2, lease1, 0);
  ASSERT_THAT(Heard<LeaseGrant>(3), SizeIs(2));
  const Lease again = LastGrant(3);
  EXPECT_EQ(again.piece.index, lease0.piece.index);
  EXPECT_FALSE(again.Skips(0));
  EXPECT_TRUE(again.last_of_lane);
  Park(3, 2, again, 0);
  EXPECT_EQ(LastClosed(1).step, 2u);
  MarkBoth(again, 0);
  Tell(3, LeaseDone{again.number});
  const JobReport report = state_->Report(now_);
  EXPECT_EQ(report.trained, 20u);
  EXPECT_EQ(report.recomputed, 0u);
}

// The plant "hold not agreed" holds rank 1 while rank 0 waits for it.
TEST_F(CoordinatorStateStepsTest, AHoldIsAgreedInTheStep) {
  JoinAll();
  const Lease lease0 = Ask(3);
  const Lease lease1 = Ask(4);
  Park(3, 1, lease0, 0);
  Do(state_->RequestSave(1, now_));
  EXPECT_THAT(Heard<Hold>(3), IsEmpty());
  EXPECT_THAT(Heard<Hold>(4), IsEmpty());
  Park(4, 1, lease1, 0);
  EXPECT_TRUE(LastClosed(1).hold);
  EXPECT_THAT(Heard<Hold>(3), SizeIs(1));
  EXPECT_THAT(Heard<Hold>(4), SizeIs(1));
  // A push that PS 0 had parked before the last step was applied.
  Park(3, 2, lease0, 1);
  Park(4, 2, lease1, 1);
  EXPECT_EQ(LastClosed(1).step, 1u) << "no step during a hold";
  MarkBoth(lease0, 0);
  MarkBoth(lease1, 0);
  for (const uint64_t session : {3, 4}) {
    Tell(session, Held{Heard<Hold>(session).back().number, {}});
  }
  for (const uint64_t ps : {1, 2}) {
    ASSERT_THAT(Heard<Hold>(ps), SizeIs(1));
    Tell(ps, Held{Heard<Hold>(ps)[0].number, {2, 0, 5}});
  }
  EXPECT_THAT(Heard<StepsReleased>(1), IsEmpty());
  for (const uint64_t ps : {1, 2}) {
    ASSERT_THAT(Heard<SaveShard>(ps), SizeIs(1));
    Tell(ps, ShardWritten{Heard<SaveShard>(ps)[0].number});
  }
  for (const uint64_t session : {1, 2, 3, 4}) {
    EXPECT_THAT(Heard<Resume>(session), SizeIs(1));
  }
  EXPECT_THAT(Heard<StepsReleased>(1), SizeIs(1));
  EXPECT_THAT(Heard<StepsReleased>(2), SizeIs(1));
  EXPECT_EQ(LastClosed(1).step, 2u);
  EXPECT_FALSE(LastClosed(1).hold);
}

// A rank may need its next lease for the step that the hold waits for.
TEST_F(CoordinatorStateStepsTest, LeasesAreGivenUntilTheHoldIsReached) {
  SetFiles(4);
  Restart();
  JoinAll();
  const Lease lease0 = Ask(3);
  const Lease lease1 = Ask(4);
  Report(4, lease1, 10);
  Park(3, 1, lease0, 0);
  Park(4, 1, lease1, 0);
  MarkBoth(lease0, 0);
  MarkBoth(lease1, 0);
  Do(state_->RequestSave(1, now_));
  Park(3, 2, lease0, 1);
  Tell(4, LeaseDone{lease1.number});
  const Lease next = Ask(4);
  EXPECT_EQ(next.piece.index, 3u);
  Park(4, 2, next, 0);
  EXPECT_TRUE(LastClosed(1).hold);
  EXPECT_THAT(Heard<Hold>(3), SizeIs(1));
  AskInVain(4);
}

TEST_F(CoordinatorStateStepsTest, TheCheckpointOfTheEndNeedsNoOpenStep) {
  train_.resize(1);
  Restart();
  JoinAll();
  const Lease lease0 = Ask(3);
  const Lease lease1 = Ask(4);
  Report(4, lease1, 10);
  Tell(4, LeaseDone{lease1.number});  // it has no batch
  Report(3, lease0, 10);
  Park(3, 1, lease0, 0);
  EXPECT_FALSE(LastClosed(1).hold);
  MarkBoth(lease0, 0);
  EXPECT_THAT(Heard<Hold>(3), IsEmpty());
  Tell(3, LeaseDone{lease0.number});
  EXPECT_THAT(Heard<Hold>(3), SizeIs(1));
  EXPECT_THAT(Heard<Hold>(4), SizeIs(1));
}

TEST_F(CoordinatorStateStepsTest, AJobThatStandsStillNamesTheStepAndTheRanks) {
  JoinAll();
  Ask(4);
  const Lease lease = Ask(3);
  Park(3, 1, lease, 0);
  Pass(absl::Minutes(10));
  EXPECT_THAT(Why(), AllOf(HasSubstr("nothing was trained or scored for 10m: "
                                     "step 1 waits for rank 1; "),
                           HasSubstr("worker 0 holds training piece 0")));
}

// Of 4 pieces of 2 batches, step 0 (batch 0 of pieces 0 and 1) is trained.
class CoordinatorStateLanesResumeTest : public CoordinatorStateLanesTest {
 protected:
  CoordinatorStateLanesResumeTest() {
    SetFiles(4);
    auto manifest = std::make_shared<Manifest>();
    manifest->step = 2;
    manifest->data.sources = train_;
    for (uint32_t i = 0; i < 4; ++i) {
      manifest->data.pieces.push_back({i, 0, 100, {}});
    }
    options_.checkpoints.resume = manifest;
    options_.checkpoints.resume_name = "ckpt-00000000002";
    options_.checkpoints.resume_text = TextOf("{}");
    Restart();
  }

  void JoinAndLoad(const std::vector<MarkRun>& marks) {
    JoinAll();
    for (const uint64_t ps : {1, 2}) {
      Tell(ps, ShardLoaded{{2, 0, 0}});
      if (Heard<MarkRunsRequest>(ps).empty()) continue;
      MarkRuns part;
      part.runs = marks;
      Tell(ps, part);
    }
  }
  std::vector<uint32_t> LaneOf(uint64_t session) {
    std::vector<uint32_t> lane;
    for (int i = 0; i < 2; ++i) {
      lane.push_back(TrainNext(session, 20).piece.index);
    }
    return lane;
  }
};

TEST_F(CoordinatorStateLanesResumeTest, TheEpochKeepsItsDeal) {
  JoinAndLoad(
      {{0, 0, 0, 1, Verdict::kApplied}, {0, 1, 0, 1, Verdict::kApplied}});
  EXPECT_THAT(LaneOf(4), ElementsAre(1, 3));
  EXPECT_THAT(LaneOf(3), ElementsAre(0, 2));
  EXPECT_EQ(state_->Report(now_).trained, 80u);
}

TEST_F(CoordinatorStateLanesResumeTest, OtherBatchesAreDealtAnew) {
  JoinAndLoad({{0, 0, 0, 2, Verdict::kApplied}});
  EXPECT_THAT(LaneOf(3), ElementsAre(1, 3)) << "piece 0 has fewer left";
  EXPECT_THAT(LaneOf(4), ElementsAre(2, 0));
  EXPECT_EQ(state_->Report(now_).trained, 80u);
}

}  // namespace
}  // namespace shoal
