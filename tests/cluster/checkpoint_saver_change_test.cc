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
