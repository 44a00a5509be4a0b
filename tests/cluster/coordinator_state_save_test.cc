// When checkpoints are saved, what a save does to the job, and where a job that
// begins from one goes on.

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cluster/coordinator_state_save_fixture.h"

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
  JoinAll();
  Train(3, 30);
  Train(4, 10);
  HoldWorkers({3, 4});
  HoldShards();
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
  EXPECT_TRUE(mend.Skips(2)) << "begun by nobody";
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

TEST_F(CoordinatorStateSaveTest, BeforeTrainingAStopHasNothingToSave) {
  Join(Role::kPs, 0);
  Do(state_->SaveAndStop(absl::CancelledError("SIGTERM"), now_));
  ExpectEnded({1});
}

TEST_F(CoordinatorStateSaveTest, MorePiecesThanAManifestHoldsAreRefusedAtOnce) {
  train_ = {{"a", 2'000'000, 1}};
  options_.piece_bytes = 1;
  Restart();
  JoinAll();
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Why(), HasSubstr("--piece_bytes"));
  EXPECT_THAT(Why(), Not(HasSubstr("--max_message_bytes")));
  options_.checkpoints.save = false;
  Restart();
  JoinAll();
  EXPECT_TRUE(JobStatus().ok()) << Why();
}

TEST_F(CoordinatorStateSaveTest, SoAreMoreThanAMessageHolds) {
  options_.checkpoints.max_manifest_bytes = 1 << 20;
  options_.piece_bytes = 1;
  for (const bool many : {true, false}) {
    train_ = {{"a", many ? 30'000u : 10'000u, 1}};
    Restart();
    JoinAll();
    EXPECT_EQ(JobStatus().ok(), !many) << Why();
    if (many) {
      EXPECT_THAT(Why(), HasSubstr("--max_message_bytes"));
    }
  }
}

// ---- Going on

class CoordinatorStateResumeTest : public CoordinatorStateSaveTest {
 protected:
  // Of epoch 0: piece 0 (30 examples) whole, of piece 1 batch 1.
  CoordinatorStateResumeTest() {
    auto manifest = std::make_shared<Manifest>();
    manifest->step = 4;
    manifest->totals.mended = 2;
    manifest->data.sources = train_;
    manifest->data.pieces = {{0, 0, 100, SavedPieceFacts{30, 0, 3}},
                             {1, 0, 100, {}}};
    manifest_ = manifest;
    options_.checkpoints.resume = manifest;
    options_.checkpoints.resume_name = "ckpt-00000000004";
    options_.checkpoints.resume_bytes = "{}";
    Restart();
  }

  void JoinAndLoad() {
    JoinAll();
    for (const uint64_t ps : {1, 2}) Tell(ps, ShardLoaded{marks_});
  }

  std::shared_ptr<Manifest> manifest_;
  std::vector<MarkRun> marks_ = {{0, 0, 0, 2, Verdict::kApplied},
                                 {0, 0, 2, 3, Verdict::kRejected},
                                 {0, 1, 1, 2, Verdict::kApplied}};
};

TEST_F(CoordinatorStateResumeTest, WhatIsTrainedIsNotLeasedAgain) {
  JoinAll();
  const auto reply = state_->Register(Request(Role::kWorker, 2), now_);
  EXPECT_FALSE(reply->load.has_value());
  EXPECT_THAT(Heard<ClusterView>(3), IsEmpty()) << "no shard is loaded";
  Tell(1, ShardLoaded{marks_});
  EXPECT_THAT(Heard<ClusterView>(3), IsEmpty());
  Tell(2, ShardLoaded{marks_});
  EXPECT_THAT(Heard<ClusterView>(3), SizeIs(1));
  const Lease lease = Ask(3);
  EXPECT_EQ(lease.piece.index, 1u);
  EXPECT_FALSE(lease.Skips(0));
  EXPECT_TRUE(lease.Skips(1));
  Report(3, lease, 20);
  MarkBoth(lease, 0);
  SaveAll();
  const JobReport report = state_->Report(now_);
  EXPECT_EQ(report.trained, 40u);
  EXPECT_EQ(report.rejected, 10u);
  EXPECT_EQ(report.samples, 50u);
  EXPECT_EQ(report.mended, 2u);
  EXPECT_EQ(report.checkpoint.resumed_samples, 30u)
      << "of an open piece the newest batch may be the shorter last one";
  EXPECT_EQ(manifests_.at(0).step, 5u);
}

TEST_F(CoordinatorStateResumeTest, ThePssAreToldWhatToLoad) {
  const auto reply = state_->Register(Request(Role::kPs, 0), now_);
  ASSERT_TRUE(reply.ok());
  EXPECT_FALSE(reply->initialise);
  ASSERT_TRUE(reply->load.has_value());
  EXPECT_EQ(reply->load->directory, "ckpt-00000000004");
}

TEST_F(CoordinatorStateResumeTest, MoreEpochsGoOnWhereTheFirstEnded) {
  options_.num_epochs = 2;
  marks_.back() = {0, 1, 0, 2, Verdict::kApplied};
  manifest_->data.pieces[1].facts = SavedPieceFacts{20, 0, 2};
  manifest_->step = 5;
  Restart();
  JoinAndLoad();
  EXPECT_EQ(Ask(3).epoch, 1u);
  EXPECT_EQ(Ask(4).epoch, 1u);
}

TEST_F(CoordinatorStateResumeTest, AJobThatIsTrainedHasNothingToDo) {
  marks_.back() = {0, 1, 0, 2, Verdict::kApplied};
  manifest_->data.pieces[1].facts = SavedPieceFacts{20, 0, 2};
  manifest_->step = 5;
  Restart();
  JoinAndLoad();
  EXPECT_THAT(Heard<ReportShard>(1), SizeIs(1));
  EXPECT_THAT(Heard<Hold>(1), IsEmpty()) << "it is saved already";
}

// All of epoch 0: the checkpoint that is saved between it and its evaluation.
class CoordinatorStateEvaluationResumeTest : public CoordinatorStateResumeTest {
 protected:
  CoordinatorStateEvaluationResumeTest() {
    eval_ = {{"va", 50, 3}};
    options_.num_epochs = 2;
    marks_.back() = {0, 1, 0, 2, Verdict::kApplied};
    manifest_->data.pieces[1].facts = SavedPieceFacts{20, 0, 2};
    manifest_->step = 5;
    Restart();
  }
  void Evaluate(const Lease& lease) {
    EXPECT_EQ(lease.purpose, LeasePurpose::kEvaluate);
    Tell(3, EvalResult{lease.number, lease.epoch, 0, {1, 2}, {0, 1}});
  }
  std::vector<uint32_t> EvaluatedEpochs() {
    std::vector<uint32_t> epochs;
    for (const EvalReport& eval : state_->Report(now_).evals) {
      epochs.push_back(eval.epoch);
    }
    return epochs;
  }
};

TEST_F(CoordinatorStateEvaluationResumeTest,
       AnEvaluationThatWasDueIsMadeFirst) {
  JoinAndLoad();
  Evaluate(Ask(3));
  EXPECT_THAT(EvaluatedEpochs(), ElementsAre(1));
  EXPECT_EQ(state_->Report(now_).evals[0].step, 5u);
  for (int i = 0; i < 2; ++i) {
    const Lease lease = Ask(3);
    EXPECT_EQ(lease.purpose, LeasePurpose::kTrain);
    EXPECT_EQ(lease.epoch, 1u);
    for (uint32_t b = 0; b < (lease.piece.index == 0 ? 3 : 2); ++b) {
      MarkBoth(lease, b);
    }
    Tell(3, LeaseDone{lease.number});
  }
  SaveAll();
  Evaluate(Ask(3));
  EXPECT_THAT(EvaluatedEpochs(), ElementsAre(1, 2));
}

TEST_F(CoordinatorStateEvaluationResumeTest, InMidEpochNoneIsMade) {
  // The evaluation after epoch 1 was made before the first batch of epoch 2.
  marks_.push_back({1, 0, 0, 1, Verdict::kApplied});
  manifest_->step = 6;
  Restart();
  JoinAndLoad();
  const Lease lease = Ask(3);
  EXPECT_EQ(lease.purpose, LeasePurpose::kTrain);
  EXPECT_EQ(lease.epoch, 1u);
  EXPECT_THAT(EvaluatedEpochs(), IsEmpty());
}

TEST_F(CoordinatorStateEvaluationResumeTest, OnlyEpochsThatAreDueAreEvaluated) {
  options_.num_epochs = 3;
  options_.eval_every_epochs = 2;
  Restart();
  JoinAndLoad();
  EXPECT_EQ(Ask(3).purpose, LeasePurpose::kTrain) << "epoch 1 is not due";
}

TEST_F(CoordinatorStateEvaluationResumeTest,
       AJobThatIsTrainedIsEvaluatedAgain) {
  options_.num_epochs = 1;
  Restart();
  JoinAndLoad();
  Evaluate(Ask(3));
  EXPECT_THAT(Heard<ReportShard>(1), SizeIs(1));
  EXPECT_THAT(EvaluatedEpochs(), ElementsAre(1));
}

TEST_F(CoordinatorStateResumeTest, FewerEpochsThanTrainedAreRefused) {
  marks_.push_back({1, 0, 0, 1, Verdict::kApplied});
  JoinAndLoad();
  EXPECT_THAT(Why(), HasSubstr("--num_epochs=1"));
}

TEST_F(CoordinatorStateResumeTest, DataThatChangedAreRefusedByName) {
  train_[1].head_crc32c = 77;
  JoinAndLoad();
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Why(), HasSubstr("'b'"));
}

TEST_F(CoordinatorStateResumeTest, BytesThatChangedAreDataLossByName) {
  manifest_->data.pieces[1].facts = SavedPieceFacts{20, 0, 2, 0x77};
  Restart();
  JoinAndLoad();
  const Lease lease = Ask(3);
  PieceReport report{LeasePurpose::kTrain, 0, lease.piece.index, 20, 0, 2, ""};
  report.crc32c = 0x77;
  Tell(3, report);
  EXPECT_TRUE(JobStatus().ok()) << Why();
  report.crc32c = 0x78;
  Tell(3, report);
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Why(), HasSubstr("(b, bytes 0 to 100) has other bytes"));
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

TEST_F(CoordinatorStateResumeTest, MarksThatAreNotTheManifestsAreRefused) {
  marks_.pop_back();
  JoinAndLoad();
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kDataLoss);
}

TEST_F(CoordinatorStateResumeTest, ShardsOfDifferentMarksAreRefused) {
  JoinAll();
  Tell(1, ShardLoaded{marks_});
  marks_[0].end = 1;
  Tell(2, ShardLoaded{marks_});
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Why(), HasSubstr("ps 1"));
}

TEST_F(CoordinatorStateResumeTest, ForEvaluationTheWeightsAreLoadedAlone) {
  options_.checkpoints.resume_training = false;
  options_.checkpoints.save = false;
  train_[1].head_crc32c = 77;
  marks_.clear();
  Restart();
  JoinAndLoad();
  EXPECT_TRUE(JobStatus().ok()) << Why();
  EXPECT_FALSE(Ask(3).Skips(0));
}

}  // namespace
}  // namespace shoal
