// A job whose two PSs hold copies of one shard.

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/coordinator_state_save_fixture.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class CoordinatorStateReplicasTest : public CoordinatorStateSaveTest {
 protected:
  CoordinatorStateReplicasTest() {
    options_.checkpoints.save = false;
    options_.checkpoints.map.num_shards = 1;
    options_.checkpoints.map.replicated = 0;
    options_.ps = {.count = 2, .replicated = 0};
    train_.resize(1);
    Restart();
  }

  // The job trains its data, and the PSs report these digests.
  void EndWith(uint64_t digest0, uint64_t digest1) {
    JoinAll();
    Train(3, 20);
    ASSERT_THAT(Heard<ReportShard>(1), SizeIs(1));
    ASSERT_THAT(Heard<ReportShard>(2), SizeIs(1));
    StatsReply stats;
    stats.digest = digest0;
    Tell(1, ShardReport{stats});
    EXPECT_FALSE(state_->Report(now_).over) << "ps 1 has not reported";
    stats.digest = digest1;
    Tell(2, ShardReport{stats});
  }
};

TEST_F(CoordinatorStateReplicasTest, TheJobWaitsForEveryReplica) {
  sessions_ = 0;
  Join(Role::kPs, 0);
  sessions_ = 2;
  for (int i = 0; i < 2; ++i) Join(Role::kWorker, i);
  EXPECT_FALSE(state_->Report(now_).started);
  EXPECT_EQ(state_->Report(now_).waiting_for, "ps 1");
  EXPECT_THAT(Heard<ClusterView>(3), IsEmpty());
  sessions_ = 1;
  Join(Role::kPs, 1);
  ASSERT_THAT(Heard<ClusterView>(3), SizeIs(1));
  EXPECT_THAT(Heard<ClusterView>(3)[0].ps, SizeIs(2)) << "one a member";
  EXPECT_TRUE(state_->Report(now_).started);
}

TEST_F(CoordinatorStateReplicasTest, ABatchIsTrainedWhenEveryReplicaHasIt) {
  JoinAll();
  const Lease lease = Ask(3);
  Report(3, lease, 20);
  Mark1(1, lease, 0);
  EXPECT_EQ(state_->Report(now_).trained, 0u) << "ps 1 lacks it";
  Mark1(2, lease, 0);
  EXPECT_EQ(state_->Report(now_).trained, 10u);
  Mark1(2, lease, 1);
  EXPECT_EQ(state_->Report(now_).trained, 10u) << "ps 0 lacks it";
  Mark1(1, lease, 1);
  EXPECT_EQ(state_->Report(now_).trained, 20u);
}

TEST_F(CoordinatorStateReplicasTest, ReplicasWithOtherVerdictsTearABatch) {
  JoinAll();
  const Lease lease = Ask(3);
  Report(3, lease, 20);
  Mark1(1, lease, 0);
  Mark1(2, lease, 0, Verdict::kRejected);
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kDataLoss);
}

TEST_F(CoordinatorStateReplicasTest, TheEndCountsTheirShardOnce) {
  EndWith(0xab, 0xab);
  const JobReport report = state_->Report(now_);
  EXPECT_EQ(report.status, absl::OkStatus());
  EXPECT_TRUE(report.over);
  EXPECT_EQ(report.digest, 0xabu);
  EXPECT_THAT(report.ps, SizeIs(2)) << "each is a process";
  ASSERT_THAT(ShardReports(report), SizeIs(1));
  EXPECT_EQ(ShardReports(report)[0]->index, 0);
}

TEST_F(CoordinatorStateReplicasTest, ReplicasThatDifferEndTheJob) {
  EndWith(0xab, 0xac);
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Why(), HasSubstr("worker 0 and worker 1 hold copies of shard 0"));
  EXPECT_THAT(Why(), HasSubstr("00000000000000ab and 00000000000000ac"));
  ExpectEnded({1, 2, 3, 4});
}

TEST_F(CoordinatorStateReplicasTest, AllAreSealedAndTheFirstWritesTheShard) {
  options_.checkpoints.save = true;
  Restart();
  JoinAll();
  const Lease lease = Ask(3);
  Report(3, lease, 20);
  MarkBoth(lease, 0);
  Do(state_->RequestSave(1, now_));
  HoldWorkers({3, 4});
  Tell(1, Held{Newest<Hold>(1).number, {1, 0, 5}});
  EXPECT_THAT(Heard<SaveShard>(1), IsEmpty()) << "ps 1 is not sealed";
  Tell(2, Held{Newest<Hold>(2).number, {1, 0, 5}});
  EXPECT_THAT(Heard<SaveShard>(1), SizeIs(1));
  EXPECT_THAT(Heard<SaveShard>(2), IsEmpty());
  EXPECT_THAT(Heard<Resume>(2), IsEmpty()) << "the shard is not written";
  const uint64_t save = Newest<SaveShard>(1).number;
  Tell(1, ShardWritten{save});
  EXPECT_THAT(Heard<Resume>(1), SizeIs(1));
  EXPECT_THAT(Heard<Resume>(2), SizeIs(1));
  ShardEntry entry;
  entry.marks = 1;
  entry.marks_digest = 5;
  entry.file.file = ShardFileName(0, 1);
  // A copy's answer to what it was not asked counts for nothing.
  Tell(2, ShardSaved{save, absl::OkStatus(), ShardEntryToText(entry)});
  EXPECT_THAT(commits_, IsEmpty());
  Tell(1, ShardSaved{save, absl::OkStatus(), ShardEntryToText(entry)});
  ASSERT_THAT(commits_, SizeIs(1));
  EXPECT_THAT(commits_[0].manifest.shards, SizeIs(1));
  EXPECT_EQ(commits_[0].manifest.map.replicated, 0);
  CommitIt();
  for (const uint64_t ps : {1, 2}) {
    EXPECT_THAT(Heard<CheckpointDone>(ps), SizeIs(1))
        << "each may have a disk of its own";
  }
  ASSERT_THAT(replies_, SizeIs(1));
  EXPECT_TRUE(replies_[0].saved.ok()) << replies_[0].saved.status();
}

TEST_F(CoordinatorStateReplicasTest, CopiesWithOtherMarksEndTheJobAtASave) {
  options_.checkpoints.save = true;
  Restart();
  JoinAll();
  const Lease lease = Ask(3);
  Report(3, lease, 20);
  MarkBoth(lease, 0);
  Do(state_->RequestSave(1, now_));
  HoldWorkers({3, 4});
  Tell(1, Held{Newest<Hold>(1).number, {1, 0, 5}});
  Tell(2, Held{Newest<Hold>(2).number, {1, 0, 6}});
  EXPECT_THAT(Heard<SaveShard>(1), IsEmpty());
  ASSERT_THAT(replies_, SizeIs(1));
  EXPECT_EQ(replies_[0].saved.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Why(), HasSubstr("worker 0 and worker 1 hold copies of shard 0 "
                               "with different batches: 1 + 0 and 1 + 0"));
  EXPECT_THAT(Why(), HasSubstr("Start the job again"));
  ExpectEnded({1, 2, 3, 4});
}

// The batches of one replica alone are not trained again: its weights have
// them.
TEST_F(CoordinatorStateReplicasTest, ABatchOfOneReplicaEndsTheJobAtASave) {
  options_.checkpoints.save = true;
  Restart();
  JoinAll();
  const Lease lease = Ask(3);
  Report(3, lease, 20);
  Mark1(1, lease, 0);
  Do(state_->RequestSave(1, now_));
  HoldWorkers({3, 4});
  Tell(1, Held{Newest<Hold>(1).number, {1, 0, 5}});
  Tell(2, Held{Newest<Hold>(2).number, {0, 0, 0}});
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Why(), HasSubstr("1 + 0 and 0 + 0 (trained + rejected)"));
}

TEST_F(CoordinatorStateReplicasTest, WithoutReplicasEveryServerCounts) {
  options_.ps = {.count = 2};
  options_.checkpoints.map.num_shards = 2;
  options_.checkpoints.map.replicated = -1;
  Restart();
  EndWith(0xab, 0xac);
  EXPECT_EQ(JobStatus(), absl::OkStatus());
  EXPECT_EQ(state_->Report(now_).digest, 0xabu + 0xac);
}

}  // namespace
}  // namespace shoal
