// When checkpoints are saved, and what a save does to the job.

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/coordinator_state_save_fixture.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TEST_F(CoordinatorStateSaveTest, EveryKStepsTheJobIsSavedAndGoesOn) {
  options_.checkpoints.save_steps = 2;
  Restart();
  JoinAll();
  const Lease lease = Ask(3);
  Report(3, lease, 30);
  MarkBoth(lease, 0);
  EXPECT_THAT(Heard<Hold>(3), IsEmpty());
  MarkBoth(lease, 1);
  EXPECT_THAT(Heard<Hold>(3), SizeIs(1));
  EXPECT_THAT(Heard<Hold>(4), SizeIs(1));
  // No further lease until it is over.
  Tell(4, LeaseRequest{});
  EXPECT_THAT(Heard<LeaseGrant>(4), IsEmpty());
  SaveAll();
  EXPECT_THAT(Heard<LeaseGrant>(4), SizeIs(1));
  EXPECT_THAT(Heard<Resume>(3), SizeIs(1));
  EXPECT_THAT(Heard<CheckpointDone>(1), SizeIs(1));
  ASSERT_THAT(manifests_, SizeIs(1));
  EXPECT_EQ(manifests_[0].step, 2u);
  EXPECT_EQ(manifests_[0].totals.trained, 20u);
  EXPECT_EQ(manifests_[0].data.pieces.size(), 2u);
  const JobReport report = state_->Report(now_);
  EXPECT_EQ(report.checkpoint.step, 2u);
  EXPECT_EQ(report.checkpoint.saved, 1u);
  EXPECT_EQ(report.checkpoint.path, "m/ckpt-00000000002");
  EXPECT_EQ(report.checkpoint.unfinished, "");
  MarkBoth(lease, 2);
  EXPECT_THAT(Heard<Hold>(3), SizeIs(1)) << "the next is due at step 4";
}

TEST_F(CoordinatorStateSaveTest, TheEndIsSavedBeforeTheEvaluation) {
  eval_ = {{"va", 50, 3}};
  JoinAll();
  Train(3, 30);
  Train(4, 10);
  Tell(3, LeaseRequest{});
  EXPECT_THAT(Heard<LeaseGrant>(3), SizeIs(1)) << "not evaluating yet";
  SaveAll();
  ASSERT_THAT(Heard<LeaseGrant>(3), SizeIs(2));
  EXPECT_EQ(Newest<LeaseGrant>(3).lease.purpose, LeasePurpose::kEvaluate);
  EXPECT_EQ(manifests_[0].step, 4u);
}

TEST_F(CoordinatorStateSaveTest, AnEndThatCannotBeSavedFailsTheJob) {
  options_.checkpoints.retry_for = absl::ZeroDuration();
  Restart();
  JoinAll();
  Train(3, 30);
  Train(4, 10);
  HoldWorkers({3, 4});
  EXPECT_EQ(state_->Report(now_).checkpoint.unfinished, "");
  HoldShards();
  EXPECT_EQ(state_->Report(now_).checkpoint.unfinished, "ckpt-00000000004");
  Tell(1, ShardSaved{Newest<SaveShard>(1).number,
                     absl::ResourceExhaustedError("disk full"), ""});
  for (const uint64_t ps : {1, 2}) {
    EXPECT_THAT(Heard<ReportShard>(ps), SizeIs(1));
    Tell(ps, ShardReport{});
  }
  ExpectEnded({1, 2, 3, 4});
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Why(), HasSubstr("disk full"));
  EXPECT_EQ(state_->Report(now_).checkpoint.voided, 1u);
}

TEST_F(CoordinatorStateSaveTest,
       AFullDiskInMidTrainingCostsTheCheckpointAlone) {
  options_.checkpoints.save_steps = 1;
  Restart();
  JoinAll();
  const Lease lease = Ask(3);
  Report(3, lease, 30);
  MarkBoth(lease, 0);
  HoldWorkers({3, 4});
  HoldShards();
  Tell(2, ShardSaved{Newest<SaveShard>(2).number,
                     absl::ResourceExhaustedError("disk full"), ""});
  EXPECT_THAT(Heard<Resume>(3), SizeIs(1));
  EXPECT_TRUE(JobStatus().ok());
  EXPECT_EQ(state_->Report(now_).checkpoint.voided, 1u);
  EXPECT_THAT(Heard<Hold>(3), SizeIs(1)) << "not again at the same step";
  MarkBoth(lease, 1);
  EXPECT_THAT(Heard<Hold>(3), SizeIs(1)) << "ps 0 still writes";
  Tell(1, ShardSaved{Newest<SaveShard>(1).number,
                     absl::CancelledError("the save was given up"), ""});
  EXPECT_THAT(Heard<Hold>(3), SizeIs(2));
}

TEST_F(CoordinatorStateSaveTest, HalfMarkedBatchesOfTheDeadAreTrainedFirst) {
  options_.checkpoints.save_steps = 1;
  Restart();
  JoinAll();
  const Lease lease = Ask(3);
  Report(3, lease, 30);
  Mark1(1, lease, 1);
  MarkBoth(lease, 0);
  HoldWorkers({4});
  Do(state_->OnSessionEnd(3, absl::UnavailableError("reset"), now_));
  HoldShards();
  EXPECT_THAT(Heard<SaveShard>(1), IsEmpty());
  const Lease mend = Newest<LeaseGrant>(4).lease;
  EXPECT_EQ(mend.piece.index, lease.piece.index);
  EXPECT_TRUE(mend.Skips(0));
  EXPECT_FALSE(mend.Skips(1));
  EXPECT_TRUE(mend.Skips(2)) << "begun by no worker";
  EXPECT_TRUE(mend.Skips(1000));
  Tell(1,
       MarkDelta{{Mark{{0, 0, 1}, Verdict::kApplied, mend.number, true}}, 1});
  Mark1(2, mend, 1);
  Tell(4, LeaseDone{mend.number});
  HoldShards();
  WriteShards();
  SyncShards();
  CommitIt();
  EXPECT_EQ(manifests_[0].step, 2u);
  EXPECT_EQ(manifests_[0].totals.mended, 1u);
  EXPECT_THAT(Heard<Resume>(4), SizeIs(1));
}

TEST_F(CoordinatorStateSaveTest, AHalfRejectedBatchIsTrainedWithItsVerdict) {
  options_.checkpoints.save_steps = 1;
  Restart();
  JoinAll();
  const Lease lease = Ask(3);
  Report(3, lease, 30);
  Mark1(1, lease, 1, Verdict::kRejected);
  MarkBoth(lease, 0);
  HoldWorkers({4});
  Do(state_->OnSessionEnd(3, absl::UnavailableError("reset"), now_));
  HoldShards();
  const Lease mend = Newest<LeaseGrant>(4).lease;
  EXPECT_FALSE(mend.Skips(1));
  EXPECT_TRUE(mend.Rejected(1));
  EXPECT_FALSE(mend.Rejected(0));
}

TEST_F(CoordinatorStateSaveTest, HalfMarkedBatchesWaitForAConnectedWorker) {
  options_.checkpoints.save_steps = 1;
  Restart();
  JoinAll();
  const Lease lease = Ask(3);
  Report(3, lease, 30);
  Mark1(1, lease, 1);
  MarkBoth(lease, 0);
  HoldWorkers({4});
  Do(state_->OnSessionEnd(3, absl::UnavailableError("reset"), now_));
  Do(state_->OnConnectionLost(4, absl::UnavailableError("reset"), now_));
  HoldShards();
  EXPECT_THAT(Heard<LeaseGrant>(4), IsEmpty());
  EXPECT_TRUE(state_->ResumeSession({Life{1, 4}, true}, now_).ok());
  Do(state_->Tick(now_));
  EXPECT_THAT(Heard<LeaseGrant>(4), SizeIs(1));
}

TEST_F(CoordinatorStateSaveTest, ARequestIsAnsweredWithThePath) {
  Do(state_->RequestSave(1, now_));
  ASSERT_THAT(replies_, SizeIs(1));
  EXPECT_EQ(replies_[0].saved.status().code(),
            absl::StatusCode::kFailedPrecondition);
  JoinAll();
  const Lease lease = Ask(3);
  Report(3, lease, 30);
  MarkBoth(lease, 0);
  Do(state_->RequestSave(2, now_));
  SaveAll();
  ASSERT_THAT(replies_, SizeIs(2));
  EXPECT_EQ(replies_[1].request, 2u);
  ASSERT_TRUE(replies_[1].saved.ok()) << replies_[1].saved.status();
  EXPECT_EQ(replies_[1].saved->path, "m/ckpt-00000000001");
  // Nothing was trained since: the same one.
  Do(state_->RequestSave(3, now_));
  HoldWorkers({3, 4});
  HoldShards();
  ASSERT_THAT(replies_, SizeIs(3));
  EXPECT_EQ(replies_[2].saved->path, "m/ckpt-00000000001");
}

TEST_F(CoordinatorStateSaveTest, AJobWithoutCheckpointsRefusesARequest) {
  options_.checkpoints.save = false;
  Restart();
  JoinAll();
  Do(state_->RequestSave(1, now_));
  ASSERT_THAT(replies_, SizeIs(1));
  EXPECT_THAT(std::string(replies_[0].saved.status().message()),
              HasSubstr("--model_dir"));
}

// ---- Stopping

TEST_F(CoordinatorStateSaveTest, AStopSavesFirst) {
  JoinAll();
  const Lease lease = Ask(3);
  Report(3, lease, 30);
  MarkBoth(lease, 0);
  Do(state_->SaveAndStop(absl::CancelledError("SIGTERM"), now_));
  EXPECT_THAT(Heard<JobEnd>(3), IsEmpty());
  SaveAll();
  ExpectEnded({1, 2, 3, 4});
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(Why(), HasSubstr("m/ckpt-00000000001"));
}

TEST_F(CoordinatorStateSaveTest, AStopThatCannotSaveSaysSo) {
  JoinAll();
  const Lease lease = Ask(3);
  MarkBoth(lease, 0);
  Do(state_->SaveAndStop(absl::CancelledError("SIGTERM"), now_));
  HoldWorkers({4});  // worker 0 beats, but never holds
  Pass(options_.checkpoints.stop_deadline + absl::Seconds(1));
  ExpectEnded({1, 2, 3, 4});
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kAborted);
  EXPECT_THAT(Why(), HasSubstr("worker 0"));
}

TEST_F(CoordinatorStateSaveTest, AStopDuringASaveEndsWithIt) {
  options_.checkpoints.save_steps = 1;
  Restart();
  JoinAll();
  const Lease lease = Ask(3);
  MarkBoth(lease, 0);
  Tell(2, StopRequest{absl::CancelledError("ps 1 was stopped")});
  SaveAll();
  ExpectEnded({1, 2, 3, 4});
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(Why(), HasSubstr("ps 1 was stopped"));
}

// As from systemd, which tells the processes of a control group one by one.
TEST_F(CoordinatorStateSaveTest, AWorkerMayAskForTheStopAndAllOthersToo) {
  JoinAll();
  const Lease lease = Ask(3);
  MarkBoth(lease, 0);
  Tell(3, StopRequest{absl::CancelledError("worker 0 was stopped")});
  Tell(1, StopRequest{absl::CancelledError("ps 0 was stopped")});
  Tell(4, StopRequest{absl::CancelledError("worker 1 was stopped")});
  SaveAll();
  ExpectEnded({1, 2, 3, 4});
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(Why(), HasSubstr("worker 0 was stopped; saved"));
  EXPECT_EQ(state_->Report(now_).first, "worker 0");
}

TEST_F(CoordinatorStateSaveTest, BeforeTrainingAStopHasNothingToSave) {
  Join(Role::kPs, 0);
  Do(state_->SaveAndStop(absl::CancelledError("SIGTERM"), now_));
  ExpectEnded({1});
}

TEST_F(CoordinatorStateSaveTest, MorePiecesThanAManifestHoldsAreRefusedAtOnce) {
  // Their numbers are long: all pieces of a job of usual size fit.
  train_ = {{"a", uint64_t{16'000'000} << 40, 1}};
  options_.piece_bytes = 4'250'000'000'000;
  Restart();
  JoinAll();
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Why(), HasSubstr("a larger --piece_bytes"));
  EXPECT_THAT(Why(), Not(HasSubstr("--max_message_bytes")));
}

TEST_F(CoordinatorStateSaveTest, PiecesWhoseManifestNoMessageHoldsAreTaken) {
  train_ = {{"a", 1'300'000, 1}};
  options_.piece_bytes = 1;
  Restart();
  JoinAll();
  EXPECT_TRUE(JobStatus().ok()) << Why();
}

TEST_F(CoordinatorStateSaveTest, APsGetsAManifestInParts) {
  options_.checkpoints.save_steps = 1;
  Restart();
  JoinAll();
  MarkBoth(Ask(3), 0);
  HoldWorkers({3, 4});
  HoldShards();
  WriteShards();
  SyncShards();
  ASSERT_THAT(commits_, SizeIs(1));
  const std::string text(kManifestPartBytes + 5, 'x');
  Do(state_->OnCommitted(commits_[0].number, TextOf(text), now_));
  const auto done = Newest<CheckpointDone>(1);
  EXPECT_EQ(done.manifest.name, NameOf(text));
  EXPECT_EQ(done.manifest.text, "") << "too long for one message";
  ManifestParts parts(done.directory, done.manifest.name);
  for (int i = 0; i < 2; ++i) {
    Tell(1, parts.Next());
    ASSERT_TRUE(parts.Add(Newest<ManifestPart>(1)).ok());
  }
  EXPECT_EQ(parts.Take(), text);
  EXPECT_THAT(Heard<ManifestPart>(2), IsEmpty()) << "it did not ask";
  Tell(2, ManifestRequest{"ckpt-00000000099", 0});
  EXPECT_EQ(Newest<ManifestPart>(2).text, "") << "there is no such";
  Tell(3, ManifestRequest{done.directory, 0});
  EXPECT_EQ(ended_.count(3), 1u) << "not a worker's to ask";
}

TEST_F(CoordinatorStateSaveTest, WhatDivergedIsNotSavedAndTheLastGoodIsNamed) {
  options_.checkpoints.save_steps = 25;
  Restart();
  JoinAll();
  const Lease lease = Ask(3);
  Report(3, lease, 400);
  for (uint32_t i = 0; i < 25; ++i) MarkBoth(lease, i);
  SaveAll();
  const std::string saved = state_->Report(now_).checkpoint.path;
  EXPECT_THAT(saved, HasSubstr("ckpt-"));
  for (uint32_t i = 25; i < 39; ++i) MarkBoth(lease, i);
  TrainProgress progress;
  progress.batches = 40;
  progress.examples = 400;
  progress.loss_sum = 1e9;
  Tell(3, LeaseDone{lease.number, progress});
  EXPECT_FALSE(state_->Report(now_).over)
      << "fewer than 100 batches, and some are left";
  const Lease second = Ask(4);
  Report(4, second, 10);
  MarkBoth(second, 0);
  MarkBoth(lease, 39);
  const JobReport report = state_->Report(now_);
  EXPECT_TRUE(report.over);
  EXPECT_TRUE(report.diverged);
  EXPECT_EQ(report.status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(report.checkpoint.path, saved) << "no other is saved";
  EXPECT_TRUE(commits_.empty());
  EXPECT_EQ(report.checkpoint.before_divergence, "")
      << "the checkpoint is of the batches that diverged";
  ExpectEnded({1, 2, 3, 4});
}

TEST_F(CoordinatorStateSaveTest, WhileItLooksDivergingOnlyARequestIsSaved) {
  options_.checkpoints.save_steps = 5;
  Restart();
  JoinAll();
  const Lease lease = Ask(3);
  Report(3, lease, 400);
  for (uint32_t i = 0; i < 5; ++i) {
    for (const uint64_t ps : {1, 2}) Mark1(ps, lease, i, Verdict::kRejected);
  }
  EXPECT_THAT(Heard<Hold>(3), IsEmpty()) << "the step is due, and not sound";
  Do(state_->RequestSave(1, now_));
  SaveAll();
  ASSERT_THAT(manifests_, SizeIs(1));
  EXPECT_EQ(manifests_[0].notes.count(kDivergingNote), 1u);
  for (uint32_t i = 5; i < 11; ++i) MarkBoth(lease, i);
  SaveAll();
  ASSERT_THAT(manifests_, SizeIs(2));
  EXPECT_EQ(manifests_[1].step, 11u);
  EXPECT_EQ(manifests_[1].notes.count(kDivergingNote), 0u);
}

TEST_F(CoordinatorStateSaveTest, TheManifestHasTheCrcsOfThePieces) {
  JoinAll();
  for (const uint32_t crc : {5, 6}) {
    const Lease lease = Ask(3);
    PieceReport report{
        LeasePurpose::kTrain, 0, lease.piece.index, 10, 0, 1, ""};
    report.crc32c = crc;
    Tell(3, report);
    MarkBoth(lease, 0);
    Tell(3, LeaseDone{lease.number});
  }
  SaveAll();
  std::vector<uint32_t> crcs;
  for (const SavedPiece& piece : manifests_.at(0).data.pieces) {
    crcs.push_back(piece.facts->crc32c.value());
  }
  EXPECT_THAT(crcs, UnorderedElementsAre(5, 6));
}

}  // namespace
}  // namespace shoal
