#include "cluster/checkpoint_saver.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cluster/checkpoint_saver_fixture.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(CheckpointSaverTest, HoldsSealsWritesCommitsAndResumes) {
  Begin();
  EXPECT_TRUE(saver_.withholds());
  HoldOne(workers_[0]);
  EXPECT_THAT(Take<Hold>(1), IsEmpty()) << "a worker is not held yet";
  HoldOne(workers_[1]);
  HoldOne(ps_[0]);
  EXPECT_THAT(Take<SaveShard>(1), IsEmpty()) << "a shard is not sealed yet";
  EXPECT_THAT(cuts_, IsEmpty());
  HoldOne(ps_[1]);
  ASSERT_THAT(cuts_, SizeIs(1));
  WriteOne(ps_[0]);
  EXPECT_TRUE(saver_.withholds()) << "a shard is not written yet";
  EXPECT_EQ(released_, 0);
  now_ += absl::Seconds(3);
  WriteOne(ps_[1]);
  EXPECT_EQ(cuts_[0].attempt, last_save_.attempt);
  EXPECT_EQ(released_, 1);
  EXPECT_FALSE(saver_.withholds());
  EXPECT_TRUE(saver_.busy());
  for (const auto* members : {&ps_, &workers_}) {
    for (const Member& member : *members) {
      EXPECT_THAT(Take<Resume>(member.life.n), SizeIs(1)) << member.Name();
    }
  }
  now_ += absl::Seconds(60);
  SyncOne(ps_[1]);
  EXPECT_THAT(commits_, IsEmpty()) << "a shard is not on the disk yet";
  step_ = 9;  // training goes on
  SyncOne(ps_[0]);
  ASSERT_THAT(commits_, SizeIs(1));
  EXPECT_THAT(commits_[0].entries, ElementsAre("ps 0", "ps 1"));
  EXPECT_EQ(commits_[0].directory, last_save_.directory);
  EXPECT_THAT(done_, IsEmpty());
  saver_.OnCommitted(commits_[0].number, absl::OkStatus(),
                     {{8, 5}, "manifest"});
  Step();
  ASSERT_THAT(done_, SizeIs(1));
  EXPECT_TRUE(done_[0].status.ok());
  EXPECT_TRUE(done_[0].fresh);
  EXPECT_EQ(done_[0].step, 7u);
  EXPECT_EQ(done_[0].took, absl::Seconds(3));
  EXPECT_FALSE(saver_.busy());
  for (const Member& ps : ps_) {
    const auto said = Take<CheckpointDone>(ps.life.n);
    ASSERT_THAT(said, SizeIs(1));
    EXPECT_EQ(said[0].manifest.text, "manifest");
    EXPECT_EQ(said[0].manifest.name, (ManifestName{8, 5}));
  }
  EXPECT_THAT(sent_, IsEmpty()) << "or a Resume of another save";
  EXPECT_EQ(released_, 1);
  done_.clear();
  Begin();
  EXPECT_TRUE(saver_.busy()) << "what was trained since is not saved";
}

TEST_F(CheckpointSaverTest, OfTheSameStepThereIsOneCheckpoint) {
  saver_.SetSaved(7, "ckpt-7");
  Begin();
  HoldAll(workers_);
  HoldAll(ps_);
  ASSERT_THAT(done_, SizeIs(1));
  EXPECT_EQ(done_[0].directory, "ckpt-7");
  EXPECT_FALSE(done_[0].fresh);
  EXPECT_THAT(cuts_, IsEmpty());
  for (const auto* members : {&ps_, &workers_}) {
    for (const Member& member : *members) {
      EXPECT_THAT(Take<Resume>(member.life.n), SizeIs(1)) << member.Name();
    }
  }
  EXPECT_THAT(sent_, IsEmpty());
  EXPECT_EQ(released_, 1);
  EXPECT_FALSE(saver_.busy());
}

TEST_F(CheckpointSaverTest, WhereAllIsTrainedAndSavedNobodyIsHeld) {
  saver_.SetSaved(7, "ckpt-7");
  trained_ = true;
  Begin();
  ASSERT_THAT(done_, SizeIs(1));
  EXPECT_EQ(done_[0].directory, "ckpt-7");
  EXPECT_FALSE(done_[0].fresh);
  EXPECT_THAT(sent_, IsEmpty());
  step_ = 8;
  Begin();
  EXPECT_TRUE(saver_.busy());
}

// Shards send their marks now and then, so the coordinator knows of the newest
// batches only once the shards are sealed.
TEST_F(CheckpointSaverTest, WhatTheCoordinatorDoesNotKnowYetIsSavedToo) {
  saver_.SetSaved(7, "ckpt-7");
  Begin();
  HoldAll(workers_);
  step_ = 9;
  for (const Member& ps : ps_) HoldOne(ps, {9, 0, 42});
  EXPECT_THAT(done_, IsEmpty());
  SaveAll();
  ASSERT_THAT(commits_, SizeIs(1));
  saver_.OnCommitted(commits_[0].number, absl::OkStatus(), {});
  Step();
  ASSERT_THAT(done_, SizeIs(1));
  EXPECT_TRUE(done_[0].fresh);
  EXPECT_EQ(done_[0].step, 9u);
}

TEST_F(CheckpointSaverTest, WithoutWorkersTheShardsAreWritten) {
  workers_.clear();
  Begin();
  HoldAll(ps_);
  SaveAll();
  EXPECT_THAT(commits_, SizeIs(1));
}

// ---- Deaths

TEST_F(CheckpointSaverTest, AWorkerThatDiesBeforeItIsHeldIsNotWaitedFor) {
  Begin();
  HoldOne(workers_[0]);
  workers_.pop_back();
  Step();
  HoldAll(ps_);
  SaveAll();
  EXPECT_THAT(commits_, SizeIs(1));
}

TEST_F(CheckpointSaverTest, AWorkerThatComesDuringASaveIsNotWaitedFor) {
  Begin();
  workers_.push_back(MemberOf(Role::kWorker, 2, 9));
  HoldOne(workers_[0]);
  HoldOne(workers_[1]);
  EXPECT_THAT(Take<Hold>(9), IsEmpty()) << "it has no lease";
  HoldAll(ps_);
  SaveAll();
  EXPECT_THAT(commits_, SizeIs(1));
}

TEST_F(CheckpointSaverTest,
       HalfMarkedBatchesAreTrainedBeforeAnythingIsWritten) {
  Begin();
  HoldOne(workers_[0]);
  workers_.pop_back();  // died with a batch on one shard alone
  Step();
  half_marked_ = {{1, 5}};
  HoldAll(ps_);
  EXPECT_THAT(Take<SaveShard>(1), IsEmpty());
  EXPECT_THAT(Take<Resume>(1), SizeIs(1)) << "or it refused the batch";
  EXPECT_THAT(Take<Resume>(3), IsEmpty());
  ASSERT_EQ(mends_.back(), (SaverMend{1, 5}));
  saver_.OnMendGranted({1, 5}, 99, workers_[0].life);
  Step();
  EXPECT_THAT(Take<Hold>(1), IsEmpty());
  saver_.OnLeaseEnd(98, absl::OkStatus());  // another
  Step();
  EXPECT_THAT(Take<Hold>(1), IsEmpty());
  // The marks may still be on their way: sealing brings them.
  saver_.OnLeaseEnd(99, absl::OkStatus());
  Step();
  half_marked_.clear();
  step_ = 8;
  HoldOne(ps_[0], {8, 0, 43});
  HoldOne(ps_[1], {8, 0, 43});
  SaveAll();
  ASSERT_THAT(commits_, SizeIs(1));
  saver_.OnCommitted(commits_[0].number, absl::OkStatus(), {});
  Step();
  EXPECT_EQ(done_.at(0).step, 8u);
}

TEST_F(CheckpointSaverTest, AWorkerThatDiesWhileItMendsIsReplaced) {
  Begin();
  HoldAll(workers_);
  half_marked_ = {{0, 1}};
  HoldAll(ps_);
  saver_.OnMendGranted({0, 1}, 50, workers_[1].life);
  workers_.pop_back();
  mends_.clear();
  Step();
  HoldAll(ps_);  // sealed again: still half-marked
  EXPECT_THAT(mends_, ElementsAre(SaverMend{0, 1}));
}

TEST_F(CheckpointSaverTest, WithNobodyToMendItWaitsForAWorker) {
  workers_.clear();
  half_marked_ = {{0, 1}};
  Begin();
  HoldAll(ps_);
  mends_.clear();
  Step();
  EXPECT_THAT(mends_, ElementsAre(SaverMend{0, 1})) << "asked for again";
  workers_.push_back(MemberOf(Role::kWorker, 0, 9));
  saver_.OnMendGranted({0, 1}, 50, workers_[0].life);
  half_marked_.clear();
  saver_.OnLeaseEnd(50, absl::OkStatus());
  Step();
  HoldAll(ps_);
  SaveAll();
  EXPECT_THAT(commits_, SizeIs(1));
}

TEST_F(CheckpointSaverTest, ABatchThatCannotBeMendedVoidsTheSave) {
  Begin();
  HoldAll(workers_);
  half_marked_ = {{0, 1}};
  HoldAll(ps_);
  saver_.OnMendGranted({0, 1}, 50, workers_[1].life);
  saver_.OnLeaseEnd(50, absl::NotFoundError("no such file"));
  Step();
  ExpectVoid(absl::StatusCode::kNotFound, "no such file");
}

// ---- What voids a save

TEST_F(CheckpointSaverTest, ShardsWithOtherMarksAreNotWritten) {
  Begin();
  HoldAll(workers_);
  HoldOne(ps_[0], {7, 0, 42});
  HoldOne(ps_[1], {7, 0, 43});
  ExpectVoid(absl::StatusCode::kInternal, "ps 1");
  EXPECT_THAT(Take<Resume>(1), SizeIs(1));
}

TEST_F(CheckpointSaverTest, MarksThatTheCoordinatorDoesNotCountVoidASave) {
  Begin();
  HoldAll(workers_);
  HoldOne(ps_[0], {7, 1, 42});
  HoldOne(ps_[1], {7, 1, 42});
  ExpectVoid(absl::StatusCode::kInternal, "the coordinator counts 7");
}

TEST_F(CheckpointSaverTest, AShardThatCannotBeWrittenVoidsTheSaveByItsName) {
  Begin();
  HoldAll(workers_);
  HoldAll(ps_);
  ShardSaved full{Take<SaveShard>(2).at(0).number,
                  absl::ResourceExhaustedError("no space left on device"), ""};
  saver_.OnSaved(ps_[1], full);
  Step();
  ExpectVoid(absl::StatusCode::kResourceExhausted,
             "ps 1: no space left on device");
  for (const uint32_t ps : {1, 2}) {
    EXPECT_THAT(Take<Resume>(ps), SizeIs(1));
    EXPECT_THAT(Take<CheckpointVoid>(ps), SizeIs(1));
  }
  EXPECT_TRUE(saver_.busy()) << "ps 0 still writes";
  SaveOne(ps_[0]);
  EXPECT_FALSE(saver_.busy());
  EXPECT_THAT(commits_, IsEmpty());
}

TEST_F(CheckpointSaverTest, AManifestThatCannotBeWrittenVoidsTheSave) {
  Begin();
  HoldAll(workers_);
  HoldAll(ps_);
  SaveAll();
  saver_.OnCommitted(commits_.at(0).number, absl::DataLossError("torn"), {});
  Step();
  commits_.clear();
  ExpectVoid(absl::StatusCode::kDataLoss, "torn");
}

TEST_F(CheckpointSaverTest,
       TheDeadlineVoidsItAtEveryPointAndNamesWhomItWaitsFor) {
  const char* const kWaitsFor[] = {
      "worker 1 to end the batches in flight", "ps 1 to end the pushes",
      "a worker to train the batches", "ps 1 to write its shard"};
  for (int point = 0; point < 4; ++point) {
    SCOPED_TRACE(kWaitsFor[point]);
    saver_ = CheckpointSaver();
    sent_.clear();
    done_.clear();
    half_marked_.clear();
    Begin();
    HoldOne(workers_[0]);
    if (point > 0) HoldOne(workers_[1]);
    if (point > 0) HoldOne(ps_[0]);
    if (point == 2) half_marked_ = {{0, 1}};
    if (point > 1) HoldOne(ps_[1]);
    if (point > 2) SaveOne(ps_[0]);
    now_ += CheckpointSaverOptions().deadline - absl::Seconds(1);
    Step();
    EXPECT_TRUE(saver_.busy());
    now_ += absl::Seconds(1);
    Step();
    ExpectVoid(absl::StatusCode::kDeadlineExceeded, kWaitsFor[point]);
  }
}

// ---- Disks that hang

TEST_F(CheckpointSaverTest, WhatTheDiskTakesLongForIsSaidOnceAndIsNotVoid) {
  for (const bool syncs : {false, true}) {
    SCOPED_TRACE(syncs ? "the manifest" : "a shard");
    saver_ = CheckpointSaver();
    BeginAndWriteAll();
    SyncOne(ps_[0]);
    if (syncs) SyncOne(ps_[1]);
    sent_.clear();
    lates_.clear();
    now_ += CheckpointSaverOptions().deadline - absl::Seconds(1);
    Step();
    EXPECT_THAT(lates_, IsEmpty());
    now_ += absl::Seconds(1);
    for (int i = 0; i < 3; ++i, now_ += absl::Hours(1)) Step();
    ASSERT_THAT(lates_, SizeIs(1));
    EXPECT_EQ(lates_[0].waiting_for,
              syncs ? "the manifest to be written"
                    : "ps 1 to sync its shard to the disk");
    EXPECT_EQ(lates_[0].step, 7u);
    EXPECT_TRUE(saver_.busy());
    EXPECT_TRUE(saver_.late());
    EXPECT_FALSE(saver_.withholds());
    EXPECT_THAT(done_, IsEmpty());
    EXPECT_THAT(sent_, IsEmpty()) << "or the shards are removed";
    if (!syncs) SyncOne(ps_[1]);
    ASSERT_THAT(commits_, SizeIs(1));
    saver_.OnCommitted(commits_[0].number, absl::OkStatus(),
                       {{8, 5}, "manifest"});
    Step();
    ASSERT_THAT(done_, SizeIs(1));
    EXPECT_TRUE(done_[0].status.ok()) << done_[0].status;
    EXPECT_THAT(Take<CheckpointDone>(1), SizeIs(1));
    EXPECT_FALSE(saver_.late());
    done_.clear();
    commits_.clear();
  }
}

TEST_F(CheckpointSaverTest, AShardThatIsNotSyncedVoidsTheSaveOnceAllAnswered) {
  BeginAndWriteAll();
  SyncOne(ps_[1], absl::InternalError("input/output error"));
  ExpectVoid(absl::StatusCode::kInternal, "ps 1: input/output error");
  for (const uint32_t ps : {1, 2}) {
    EXPECT_THAT(Take<CheckpointVoid>(ps), SizeIs(1));
  }
  EXPECT_TRUE(saver_.busy()) << "ps 0 could take no part in another save";
  EXPECT_EQ(saver_.WaitingFor(View()),
            "ps 0 to give up a checkpoint that failed");
  now_ += CheckpointSaverOptions().deadline;
  Step();
  EXPECT_THAT(lates_, SizeIs(1));
  SyncOne(ps_[0], absl::CancelledError("given up"));
  EXPECT_FALSE(saver_.busy());
  EXPECT_THAT(done_, SizeIs(1)) << "void once";
  EXPECT_EQ(released_, 1);
}

TEST_F(CheckpointSaverTest, AJobThatEndsWhileShardsAreSyncedLeavesNone) {
  BeginAndWriteAll();
  Do(saver_.Void(absl::FailedPreconditionError("the job is ending"), now_));
  for (const uint32_t ps : {1, 2}) {
    EXPECT_THAT(Take<CheckpointVoid>(ps), SizeIs(1));
    EXPECT_THAT(Take<Resume>(ps), SizeIs(1));
  }
}

TEST_F(CheckpointSaverTest, AJobThatEndsWhileItIsCommittedKeepsTheShards) {
  Begin();
  HoldAll(workers_);
  HoldAll(ps_);
  SaveAll();
  Do(saver_.Void(absl::FailedPreconditionError("the job is ending"), now_));
  EXPECT_THAT(Take<CheckpointVoid>(1), IsEmpty()) << "the manifest may come";
  EXPECT_THAT(Take<Resume>(3), SizeIs(1));
  EXPECT_FALSE(saver_.busy());
}

TEST_F(CheckpointSaverTest, AManifestThatCameBeforeTheJobEndsKeepsTheShards) {
  Begin();
  HoldAll(workers_);
  HoldAll(ps_);
  SaveAll();
  saver_.OnCommitted(commits_.at(0).number, absl::OkStatus(),
                     {{8, 5}, "manifest"});
  Do(saver_.Void(absl::FailedPreconditionError("the job is ending"), now_));
  EXPECT_THAT(Take<CheckpointVoid>(1), IsEmpty()) << "the manifest names it";
}

TEST_F(CheckpointSaverTest, ASaveBeforeAStopHoldsAllToItsEnd) {
  Begin();
  saver_.Hurry(now_ + absl::Seconds(5));
  HoldAll(workers_);
  HoldAll(ps_);
  for (const Member& ps : ps_) WriteOne(ps);
  EXPECT_TRUE(saver_.withholds()) << "what is trained now would be lost";
  now_ += absl::Seconds(5);
  Step();
  EXPECT_TRUE(saver_.late());
  for (const Member& ps : ps_) SyncOne(ps);
  ASSERT_THAT(commits_, SizeIs(1));
  saver_.OnCommitted(commits_[0].number, absl::OkStatus(),
                       {{8, 5}, "manifest"});
  Step();
  EXPECT_THAT(Take<Resume>(3), SizeIs(1));
  EXPECT_THAT(Take<Resume>(1), SizeIs(1));
  EXPECT_EQ(done_.at(0).took, absl::Seconds(5));
}

TEST_F(CheckpointSaverTest, AHurriedSaveHasTheEarlierDeadline) {
  Begin();
  saver_.Hurry(now_ + absl::Seconds(5));
  now_ += absl::Seconds(5);
  Step();
  ExpectVoid(absl::StatusCode::kDeadlineExceeded, "5s");
}

TEST_F(CheckpointSaverTest, AnswersToAnEarlierSaveCountForNothing) {
  Begin();
  const uint64_t old_hold = Take<Hold>(3).at(0).number;
  Do(saver_.Void(absl::CancelledError("x"), now_));
  sent_.clear();
  done_.clear();
  Begin();
  saver_.OnHeld(workers_[0], Held{old_hold, {}});
  HoldOne(workers_[1]);
  EXPECT_THAT(Take<Hold>(1), IsEmpty());
  HoldOne(workers_[0]);
  const uint64_t seal = Take<Hold>(1).at(0).number;
  saver_.OnHeld(ps_[0], Held{seal - 1, {7, 0, 42}});
  HoldOne(ps_[1]);
  EXPECT_THAT(Take<SaveShard>(1), IsEmpty());
}

TEST_F(CheckpointSaverTest, AnswersToAnEarlierAttemptCountForNothing) {
  Begin();
  HoldAll(workers_);
  HoldAll(ps_);
  SaveAll();
  const uint64_t old = last_save_.number;
  saver_.OnCommitted(commits_.at(0).number, absl::DataLossError("torn"), {});
  Step();
  ASSERT_FALSE(saver_.busy());
  commits_.clear();
  sent_.clear();
  Begin();
  HoldAll(workers_);
  HoldAll(ps_);
  const auto expect_nothing = [&] {
    for (const Member& ps : ps_) {
      saver_.OnWritten(ps, ShardWritten{old});
      ShardSaved saved{old, absl::OkStatus(), "old"};
      saver_.OnSaved(ps, saved);
      ShardSaved failed{old, absl::InternalError("old"), ""};
      saver_.OnSaved(ps, failed);
      Step();
    }
    EXPECT_THAT(commits_, IsEmpty());
    EXPECT_TRUE(saver_.busy());
  };
  expect_nothing();
  EXPECT_TRUE(saver_.withholds());
  for (const Member& ps : ps_) WriteOne(ps);
  expect_nothing();
  for (const Member& ps : ps_) SyncOne(ps);
  ASSERT_THAT(commits_, SizeIs(1));
  EXPECT_THAT(commits_[0].entries, ElementsAre("ps 0", "ps 1"));
}

TEST_F(CheckpointSaverTest, EveryAttemptHasANumberOfItsOwn) {
  std::vector<uint64_t> attempts;
  for (int i = 0; i < 3; ++i) {
    Begin();
    HoldAll(workers_);
    HoldAll(ps_);
    SaveOne(ps_[0]);
    attempts.push_back(last_save_.attempt);
    Do(saver_.Void(absl::CancelledError("x"), now_));
    SyncOne(ps_[1]);
    sent_.clear();
  }
  EXPECT_LT(attempts[0], attempts[1]);
  EXPECT_LT(attempts[1], attempts[2]);
}

}  // namespace
}  // namespace shoal
