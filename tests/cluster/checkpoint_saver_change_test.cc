// A save whose workers or replicas change.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cluster/checkpoint_saver_fixture.h"

namespace shoal {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(CheckpointSaverTest, AChangeOfWorkersVoidsASaveThatNeedsThem) {
  for (const int held : {0, 1, 2, 3, 4}) {
    done_.clear();
    sent_.clear();
    saver_ = CheckpointSaver();
    Begin();
    for (int i = 0; i < held; ++i) {
      HoldOne(i < 2 ? workers_[i] : ps_[i - 2]);
    }
    const auto saves = Take<SaveShard>(1);
    Do(saver_.Interrupt(absl::AbortedError("changed"), now_));
    ExpectVoid(absl::StatusCode::kAborted, "changed");
    EXPECT_TRUE(done_[0].interrupted);
    EXPECT_FALSE(saver_.holds());
    EXPECT_EQ(saver_.busy(), held == 4) << "a shard still writes";
    EXPECT_THAT(Take<CheckpointVoid>(1), SizeIs(held == 4 ? 1 : 0));
  }
}

TEST_F(CheckpointSaverTest, AChangeOfWorkersDoesNotVoidWhatIsWritten) {
  for (const bool hurried : {false, true}) {
    done_.clear();
    commits_.clear();
    sent_.clear();
    saver_ = CheckpointSaver();
    Do(saver_.Begin(View(),
                    hurried ? now_ + absl::Minutes(1) : absl::InfiniteFuture(),
                    now_));
    HoldAll(workers_);
    HoldAll(ps_);
    for (const Member& ps : ps_) WriteOne(ps);
    EXPECT_EQ(saver_.holds(), hurried);
    Do(saver_.Interrupt(absl::AbortedError("changed"), now_));
    EXPECT_FALSE(saver_.holds());
    for (const Member& worker : workers_) {
      EXPECT_THAT(Take<Resume>(worker.life.n), SizeIs(1)) << hurried;
    }
    for (const Member& ps : ps_) SyncOne(ps);
    ASSERT_THAT(commits_, SizeIs(1));
    saver_.OnCommitted(commits_[0].number, absl::OkStatus(), {});
    Step();
    ASSERT_THAT(done_, SizeIs(1));
    EXPECT_TRUE(done_[0].status.ok());
    EXPECT_FALSE(done_[0].interrupted);
  }
}

// PS 0, and a shard with two replicas, PSs 1 and 2, of which PS 1 writes it.
class LostReplicaTest : public CheckpointSaverTest {
 protected:
  LostReplicaTest() {
    members_of_ = {.count = 3, .replicated = 1};
    ps_.push_back(MemberOf(Role::kPs, 2, 8));
  }
  void BeginAndWrite() {
    Begin();
    HoldAll(workers_);
    HoldAll(ps_);
    for (int i = 0; i < 2; ++i) WriteOne(ps_[i]);
    sent_.clear();
  }
  void Lose(int index) {
    lost_ = ps_[index];
    ps_.erase(ps_.begin() + index);
    Do(saver_.Interrupt(absl::AbortedError("changed"), now_));
    Step();
  }
  Member lost_;
};

TEST_F(LostReplicaTest, ThatWasToSyncItsShardIsNotAwaited) {
  BeginAndWrite();
  Lose(1);
  ASSERT_THAT(done_, SizeIs(1));
  EXPECT_EQ(done_[0].status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(done_[0].status.message()),
              testing::HasSubstr("worker 0 was lost before it had saved"));
  EXPECT_TRUE(done_[0].interrupted) << "it is due again";
  EXPECT_THAT(Take<CheckpointVoid>(1), SizeIs(1));
  EXPECT_TRUE(saver_.busy()) << "PS 0 still syncs";
  SyncOne(ps_[0]);
  EXPECT_FALSE(saver_.busy());
  Begin();
  HoldAll(workers_);
  HoldAll(ps_);
  SaveAll();
  EXPECT_THAT(commits_, SizeIs(1));
}

TEST_F(LostReplicaTest, ThatWasToWriteItsShardIsNotAwaited) {
  Begin();
  HoldAll(workers_);
  HoldAll(ps_);
  SaveOne(ps_[0]);
  Lose(1);
  ASSERT_THAT(done_, SizeIs(1));
  EXPECT_TRUE(done_[0].interrupted);
  EXPECT_FALSE(saver_.busy()) << "PS 0 has answered already";
}

TEST_F(LostReplicaTest, ThatIsLostWithoutAChangeIsNotAwaitedEither) {
  BeginAndWrite();
  ps_.erase(ps_.begin() + 1);
  Step();
  ASSERT_THAT(done_, SizeIs(1));
  EXPECT_TRUE(done_[0].interrupted);
}

TEST_F(LostReplicaTest, ThatHasSavedItsShardOrSavesNoneIsNotMissed) {
  for (const int index : {1, 2}) {
    done_.clear();
    commits_.clear();
    saver_ = CheckpointSaver();
    const auto all = ps_;
    BeginAndWrite();
    SyncOne(ps_[1]);
    Lose(index);
    EXPECT_THAT(done_, IsEmpty());
    SyncOne(ps_[0]);
    ASSERT_THAT(commits_, SizeIs(1));
    EXPECT_THAT(commits_[0].entries, SizeIs(2));
    saver_.OnCommitted(commits_[0].number, absl::OkStatus(), {});
    Step();
    ASSERT_THAT(done_, SizeIs(1));
    EXPECT_TRUE(done_[0].status.ok());
    ps_ = all;
  }
}

// Workers in steps of all of them cannot train such a batch while they hold.
TEST_F(CheckpointSaverTest, AHalfMarkedBatchVoidsTheSaveOfAJobOfRanks) {
  CheckpointSaverOptions options;
  options.mends = false;
  saver_ = CheckpointSaver(options);
  half_marked_ = {{0, 3}};
  Begin();
  HoldAll(workers_);
  HoldAll(ps_);
  ExpectVoid(absl::StatusCode::kAborted, "not every shard has the batches");
  EXPECT_THAT(mends_, IsEmpty());
  EXPECT_FALSE(saver_.busy());
}

// The first replica that is there writes the shard.
TEST_F(CheckpointSaverTest, TheFirstReplicaThatIsLeftWrites) {
  members_of_ = {.count = 3, .replicated = 0};
  ps_.push_back(MemberOf(Role::kPs, 2, 8));
  ps_.erase(ps_.begin());
  Begin();
  HoldAll(workers_);
  HoldAll(ps_);
  EXPECT_THAT(Take<SaveShard>(8), IsEmpty());
  SaveOne(ps_[0]);
  ASSERT_THAT(commits_, SizeIs(1));
  saver_.OnCommitted(commits_[0].number, absl::OkStatus(), {});
  Step();
  for (const Member& ps : ps_) {
    EXPECT_THAT(Take<CheckpointDone>(ps.life.n), SizeIs(1));
  }
}

}  // namespace
}  // namespace shoal
