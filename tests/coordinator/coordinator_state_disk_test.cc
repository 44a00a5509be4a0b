// Training goes on while a checkpoint is on its way to the disk, which may take
// long, or for ever.

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/coordinator_state_save_fixture.h"

namespace shoal {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class CoordinatorStateDiskTest : public CoordinatorStateSaveTest {
 protected:
  CoordinatorStateDiskTest() {
    options_.checkpoints.save_steps = 2;
    options_.checkpoints.deadline = absl::Seconds(10);
    Restart();
    JoinAll();
  }

  // Two batches of piece 0, which has three, are trained and written.
  Lease WriteTheFirstTwo() {
    Lease lease = Ask(3);
    Report(3, lease, 30);
    MarkBoth(lease, 0);
    MarkBoth(lease, 1);
    HoldWorkers({3, 4});
    HoldShards();
    WriteShards();
    return lease;
  }
  // And then the rest: a batch of that piece, and one of the other.
  void TrainTheRest(const Lease& lease) {
    MarkBoth(lease, 2);
    Tell(3, LeaseDone{lease.number});
    Train(4, 10);
  }
  int CountLogs(const std::string& what) {
    int count = 0;
    for (const std::string& line : logs_) {
      count += line.find(what) != std::string::npos;
    }
    return count;
  }
  void ReportShards() {
    for (const uint64_t ps : {1, 2}) {
      EXPECT_THAT(Heard<ReportShard>(ps), SizeIs(1));
      Tell(ps, ShardReport{});
    }
  }
};

TEST_F(CoordinatorStateDiskTest, TheManifestIsOfTheCutThoughTrainingGoesOn) {
  const Lease lease = WriteTheFirstTwo();
  EXPECT_THAT(Heard<Resume>(3), SizeIs(1));
  EXPECT_THAT(Heard<Resume>(1), SizeIs(1));
  MarkBoth(lease, 2);
  Tell(3, LeaseDone{lease.number});
  EXPECT_EQ(Ask(3).piece.index, 1u) << "leases are given";
  SyncShard(1);
  EXPECT_THAT(commits_, IsEmpty());
  SyncShard(2);
  CommitIt();
  ASSERT_THAT(manifests_, SizeIs(1));
  EXPECT_EQ(manifests_[0].step, 2u);
  EXPECT_EQ(manifests_[0].totals.batches, 2u);
  EXPECT_EQ(manifests_[0].totals.trained, 20u);
  EXPECT_EQ(manifests_[0].time, absl::UnixEpoch());
  const JobReport report = state_->Report(now_);
  EXPECT_EQ(report.batches, 3u);
  EXPECT_EQ(report.checkpoint.step, 2u);
  EXPECT_EQ(report.checkpoint.path, "m/ckpt-00000000002");
}

TEST_F(CoordinatorStateDiskTest, ASaveThatIsDueWaitsForTheOneBefore) {
  MarkBoth(WriteTheFirstTwo(), 2);
  const Lease other = Ask(4);
  Report(4, other, 20);
  MarkBoth(other, 0);
  EXPECT_EQ(Marks(), 4u);
  EXPECT_THAT(Heard<Hold>(3), SizeIs(1)) << "the next is due, and waits";
  SyncShards();
  CommitIt();
  EXPECT_THAT(Heard<Hold>(3), SizeIs(2));
}

TEST_F(CoordinatorStateDiskTest, AnEarlierCheckpointIsNotTheEndsOwn) {
  options_.checkpoints.save_steps = 2;
  TrainTheRest(WriteTheFirstTwo());
  SyncShards();
  CommitIt();
  EXPECT_THAT(Heard<ReportShard>(1), IsEmpty()) << "the end is not saved";
  SaveAll();
  ASSERT_THAT(manifests_, SizeIs(2));
  EXPECT_EQ(manifests_[1].step, 4u);
  ReportShards();
  ExpectEnded({1, 2, 3, 4});
  EXPECT_TRUE(JobStatus().ok()) << JobStatus();
}

TEST_F(CoordinatorStateDiskTest, ADiskThatHangsIsNamedOnceAndTrainingGoesOn) {
  const Lease lease = WriteTheFirstTwo();
  Do(state_->RequestSave(1, now_));
  SyncShard(1);
  Pass(absl::Seconds(9));
  EXPECT_EQ(CountLogs("still waits"), 0);
  EXPECT_THAT(replies_, IsEmpty());
  Pass(absl::Seconds(20));
  EXPECT_EQ(CountLogs("still waits"), 1);
  EXPECT_THAT(logs_,
              Contains(HasSubstr(
                  "the checkpoint at step 2, begun 10s ago, still waits "
                  "for ps 1 (h1:1) to sync its shard to the disk: does the "
                  "disk hang? Training goes on")));
  // Nor does a request begin another.
  Do(state_->RequestSave(2, now_));
  ASSERT_THAT(replies_, SizeIs(2));
  for (const SaveReplyAction& reply : replies_) {
    EXPECT_EQ(reply.saved.status().code(),
              absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(reply.saved.status().message()),
                HasSubstr("ps 1 (h1:1) to sync"));
  }
  MarkBoth(lease, 2);
  EXPECT_TRUE(JobStatus().ok());
  EXPECT_EQ(state_->Report(now_).checkpoint.voided, 0u);
  SyncShard(2);
  CommitIt();
  EXPECT_EQ(state_->Report(now_).checkpoint.step, 2u);
  Do(state_->RequestSave(3, now_));
  EXPECT_THAT(Heard<Hold>(3), SizeIs(2)) << "saves go on";
}

TEST_F(CoordinatorStateDiskTest, WhoWaitsForThatCheckpointHearsThatItIsLate) {
  const Lease lease = Ask(3);
  Report(3, lease, 30);
  MarkBoth(lease, 0);
  Do(state_->RequestSave(1, now_));
  HoldWorkers({3, 4});
  HoldShards();
  WriteShards();
  SyncShards();
  Pass(absl::Seconds(11));
  ASSERT_THAT(replies_, SizeIs(1));
  EXPECT_EQ(replies_[0].saved.status().code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(replies_[0].saved.status().message()),
              HasSubstr("the manifest to be written"));
  CommitIt();
  EXPECT_THAT(replies_, SizeIs(1));
}

// ---- The end

TEST_F(CoordinatorStateDiskTest, AnEndThatIsNotOnTheDiskInTimeFailsTheJob) {
  TrainTheRest(WriteTheFirstTwo());
  SyncShards();
  CommitIt();
  HoldWorkers({3, 4});
  HoldShards();
  WriteShards();
  SyncShard(2);
  Pass(absl::Seconds(9));
  EXPECT_THAT(Heard<ReportShard>(1), IsEmpty());
  Pass(absl::Seconds(2));
  ReportShards();
  ExpectEnded({1, 2, 3, 4});
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(Why(), HasSubstr("everything was trained, but it is not saved: "
                               "the checkpoint at step 4"));
  EXPECT_THAT(Why(), HasSubstr("ps 0 (h0:1) to sync its shard"));
  for (const uint64_t ps : {1, 2}) {
    EXPECT_THAT(Heard<CheckpointVoid>(ps), SizeIs(1));
  }
}

TEST_F(CoordinatorStateDiskTest, SoDoesAnEndThatWaitsForAnEarlierOne) {
  TrainTheRest(WriteTheFirstTwo());
  Pass(absl::Seconds(9));
  EXPECT_THAT(Heard<ReportShard>(1), IsEmpty());
  Pass(absl::Seconds(2));
  ReportShards();
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(Why(), HasSubstr("it is not saved: the checkpoint at step 2"));
}

TEST_F(CoordinatorStateDiskTest, ADiskThatComesBackInTheEvaluationSavesTheEnd) {
  eval_ = {{"va", 50, 3}};
  options_.checkpoints.save_steps = 0;
  Restart();
  JoinAll();
  Train(3, 30);
  Train(4, 10);
  HoldWorkers({3, 4});
  HoldShards();
  WriteShards();
  Pass(absl::Seconds(11));
  const Lease lease = Ask(3);
  EXPECT_EQ(lease.purpose, LeasePurpose::kEvaluate);
  SyncShards();
  CommitIt();
  Tell(3, EvalResult{lease.number, lease.epoch, 0, {1, 2}, {0, 1}});
  ReportShards();
  ExpectEnded({1, 2, 3, 4});
  EXPECT_TRUE(JobStatus().ok()) << JobStatus();
}

// ---- Stopping

TEST_F(CoordinatorStateDiskTest, AStopSavesWhatWasTrainedSinceTheCut) {
  const Lease lease = WriteTheFirstTwo();
  MarkBoth(lease, 2);
  Do(state_->SaveAndStop(absl::CancelledError("SIGTERM"), now_));
  SyncShards();
  CommitIt();
  EXPECT_TRUE(JobStatus().ok()) << JobStatus();
  HoldWorkers({3, 4});
  HoldShards();
  WriteShards();
  EXPECT_THAT(Heard<Resume>(3), SizeIs(1)) << "what is trained now is lost";
  SyncShards();
  CommitIt();
  ExpectEnded({1, 2, 3, 4});
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(Why(), HasSubstr("m/ckpt-00000000003"));
}

TEST_F(CoordinatorStateDiskTest, AStopDoesNotWaitForADiskThatHangs) {
  const Lease lease = WriteTheFirstTwo();
  Pass(absl::Seconds(11));
  MarkBoth(lease, 2);
  Do(state_->SaveAndStop(absl::CancelledError("SIGTERM"), now_));
  Pass(options_.checkpoints.stop_deadline - absl::Seconds(1));
  EXPECT_TRUE(JobStatus().ok()) << JobStatus();
  Pass(absl::Seconds(2));
  ExpectEnded({1, 2, 3, 4});
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kAborted);
  EXPECT_THAT(Why(), HasSubstr("SIGTERM; what was trained since the last "
                               "checkpoint is lost"));
  EXPECT_THAT(Why(), HasSubstr("ps 0 (h0:1), ps 1 (h1:1) to sync"));
}

}  // namespace
}  // namespace shoal
