// Where a job that begins from a checkpoint goes on.

#include <memory>
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
using ::testing::SizeIs;

class CoordinatorStateResumeTest : public CoordinatorStateSaveTest {
 protected:
  // Trained in epoch 0: piece 0 (30 examples) whole, and batch 1 of piece 1.
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
    options_.checkpoints.resume_text = TextOf("{}");
    Restart();
  }

  void JoinAndLoad() {
    JoinAll();
    for (const uint64_t ps : {1, 2}) Load(ps);
  }
  // The PS has loaded these marks, and tells of them as far as it is asked, in
  // parts of two runs.
  void Load(uint64_t ps) {
    MarkTotals totals;
    for (const MarkRun& run : marks_) {
      (run.verdict == Verdict::kApplied ? totals.applied : totals.rejected) +=
          run.end - run.begin;
    }
    Tell(ps, ShardLoaded{totals});
    if (told_marks_) TellMarks(ps);
  }
  void TellMarks(uint64_t ps) {
    for (size_t answered = 0;; ++answered) {
      const auto asked = Heard<MarkRunsRequest>(ps);
      if (asked.size() <= answered) return;
      MarkRuns part;
      part.offset = asked[answered].offset;
      for (size_t i = part.offset; i < marks_.size() && part.runs.size() < 2;
           ++i) {
        part.runs.push_back(marks_[i]);
      }
      part.more = part.offset + part.runs.size() < marks_.size();
      Tell(ps, part);
    }
  }

  bool told_marks_ = true;
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
  Load(1);
  EXPECT_THAT(Heard<ClusterView>(3), IsEmpty());
  Load(2);
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

TEST_F(CoordinatorStateResumeTest, OnePsTellsOfItsMarksInParts) {
  told_marks_ = false;
  JoinAndLoad();
  EXPECT_THAT(Heard<MarkRunsRequest>(1), SizeIs(1));
  EXPECT_THAT(Heard<ClusterView>(3), IsEmpty()) << "the marks are not there";
  EXPECT_TRUE(JobStatus().ok()) << Why();
  TellMarks(1);
  EXPECT_THAT(Heard<MarkRunsRequest>(1), SizeIs(2));
  EXPECT_THAT(Heard<MarkRunsRequest>(2), IsEmpty());
  EXPECT_THAT(Heard<ClusterView>(3), SizeIs(1));
  EXPECT_EQ(Ask(3).piece.index, 1u);
}

TEST_F(CoordinatorStateResumeTest, MarksThatWereNotAskedForAreRefused) {
  JoinAll();
  told_marks_ = false;
  Load(1);
  Tell(2, MarkRuns{0, marks_, false});
  EXPECT_EQ(ended_.count(2), 1u);
  EXPECT_THAT(logs_.back(), HasSubstr("ps 1"));
  EXPECT_THAT(logs_.back(), HasSubstr("another process may take its place"));
  EXPECT_TRUE(JobStatus().ok()) << Why();
}

// A job of many pieces, of which all but the eighth are trained. What it
// restores takes more than one event, and no event for long.
class LargeResumeTest : public CoordinatorStateResumeTest {
 protected:
  static constexpr uint32_t kPieces = 300'000;

  LargeResumeTest() {
    train_ = {{"a", kPieces, 1}};
    options_.piece_bytes = 1;
    options_.batch_size = 1;
    manifest_->data.sources = train_;
    manifest_->data.pieces.clear();
    marks_.clear();
    for (uint32_t i = 0; i < kPieces; ++i) {
      manifest_->data.pieces.push_back({0, i, i + 1, SavedPieceFacts{1, 0, 1}});
      if (i != 7) marks_.push_back({0, i, 0, 1, Verdict::kApplied});
    }
    manifest_->step = kPieces - 1;
    told_marks_ = false;
    Restart();
    JoinAndLoad();
    Tell(1, MarkRuns{0, marks_, false});
  }
  void Continue() {
    EXPECT_EQ(to_continue_, 1);
    to_continue_ = 0;
    Do(state_->Continue(now_));
  }
};

TEST_F(LargeResumeTest, ManyPiecesAreRestoredInSeveralEvents) {
  Tell(3, LeaseRequest{});
  int events = 0;
  for (; to_continue_ > 0; ++events) {
    EXPECT_THAT(Heard<LeaseGrant>(3), IsEmpty());
    Continue();
  }
  EXPECT_GE(events, 3);
  EXPECT_TRUE(JobStatus().ok()) << Why();
  EXPECT_EQ(Marks(), kPieces - 1);
  EXPECT_EQ(Newest<LeaseGrant>(3).lease.piece.index, 7u);
}

TEST_F(LargeResumeTest, APsThatDiesMeanwhileEndsTheJob) {
  Continue();
  Do(state_->OnSessionEnd(2, absl::UnavailableError("reset"), now_));
  EXPECT_THAT(Why(), HasSubstr("its shard's state is lost"));
  while (to_continue_ > 0) Continue();
  EXPECT_THAT(Heard<LeaseGrant>(3), IsEmpty());
}

TEST_F(LargeResumeTest, AWorkerThatReportsMeanwhileIsRefused) {
  Continue();
  PieceReport report;
  report.piece = kPieces - 1;
  report.examples = 1;
  report.batches = 1;
  Tell(3, report);
  EXPECT_EQ(ended_.count(3), 1u);
  while (to_continue_ > 0) Continue();
  EXPECT_TRUE(JobStatus().ok()) << Why();
  EXPECT_EQ(Marks(), kPieces - 1);
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

TEST_F(CoordinatorStateResumeTest, MarksThatAreNotTheManifestsAreRefused) {
  marks_.pop_back();
  JoinAndLoad();
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kDataLoss);
}

TEST_F(CoordinatorStateResumeTest, ShardsOfDifferentMarksAreRefused) {
  JoinAll();
  Load(1);
  marks_[0].end = 1;
  Load(2);
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

TEST_F(CoordinatorStateResumeTest, FilesOfTheOtherKindOfIdsAreRefused) {
  manifest_->data.ids = IdKind::kWritten;
  for (const bool training : {true, false}) {
    options_.checkpoints.resume_training = training;
    Restart();
    RegisterRequest worker = Request(Role::kWorker, 0);
    worker.ids = IdKind::kHashed;
    const absl::Status refused = state_->Register(worker, now_).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(refused.message()),
                HasSubstr("but the checkpoint m/ckpt-00000000004 was trained "
                          "on rows that hold their ids"));
    worker.ids = IdKind::kWritten;
    EXPECT_TRUE(state_->Register(worker, now_).ok());
  }
}

TEST_F(CoordinatorStateResumeTest, ACheckpointKeepsTheKindOfIds) {
  for (const IdKind ids : {IdKind::kUnknown, IdKind::kHashed}) {
    manifest_->data.ids = ids;
    manifests_.clear();
    Restart();
    JoinAndLoad();
    const Lease lease = Ask(3);
    Report(3, lease, 20);
    MarkBoth(lease, 0);
    SaveAll();
    EXPECT_EQ(manifests_.at(0).data.ids, ids);
  }
}

TEST_F(CoordinatorStateResumeTest, APsThatDiesWithALoadedShardIsLoadedAgain) {
  JoinAll();
  Load(2);
  Do(state_->OnSessionEnd(2, absl::UnavailableError("reset"), now_));
  Load(1);
  EXPECT_EQ(Join(Role::kPs, 1), 5u);
  EXPECT_TRUE(JobStatus().ok()) << Why();
  EXPECT_THAT(Heard<ClusterView>(3), IsEmpty()) << "its shard is not loaded";
  Load(5);
  EXPECT_THAT(Heard<ClusterView>(3), SizeIs(1));
  EXPECT_EQ(Ask(3).piece.index, 1u);
}

TEST_F(CoordinatorStateResumeTest, APsThatDiesWhileItTellsItsMarksIsReplaced) {
  told_marks_ = false;
  JoinAndLoad();
  EXPECT_THAT(Heard<MarkRunsRequest>(1), SizeIs(1));
  Do(state_->OnSessionEnd(1, absl::UnavailableError("reset"), now_));
  EXPECT_EQ(Join(Role::kPs, 0), 5u);
  EXPECT_TRUE(JobStatus().ok()) << Why();
  Load(5);
  TellMarks(2);
  EXPECT_THAT(Heard<ClusterView>(3), SizeIs(1));
  EXPECT_EQ(Ask(3).piece.index, 1u);
}

// A part of a file is read elsewhere, and goes to the server that asked. While
// parts are asked for, the job waits longer than its start deadline.
TEST_F(CoordinatorStateResumeTest, FilesAreSentToAServerThatLacksThem) {
  manifest_->shards.resize(1);
  manifest_->shards[0].file.file = "shard-00000-of-00001.safetensors";
  manifest_->shards[0].file.size = 1000;
  Restart();
  JoinAll();
  Load(1);
  const FileRequest request = {"ckpt-00000000004",
                               "shard-00000-of-00001.safetensors", 5, 10};
  for (int i = 0; i < 5; ++i) {
    Pass(options_.start_deadline * 3 / 4);
    Tell(2, request);
    ASSERT_THAT(to_read_, SizeIs(1));
    EXPECT_EQ(to_read_[0].session, 2u);
    to_read_.clear();
    Do(state_->OnFileRead(2, FilePart{request.directory, request.file, 5, "x"},
                          now_));
    EXPECT_EQ(Newest<FilePart>(2).bytes, "x");
  }
  EXPECT_THAT(Heard<JobEnd>(1), IsEmpty());
  // The answer to a server that is gone goes nowhere.
  Tell(2, request);
  Do(state_->OnSessionEnd(2, absl::UnavailableError("gone"), now_));
  Do(state_->OnFileRead(2, FilePart{request.directory, request.file, 5, "x"},
                        now_));
}

}  // namespace
}  // namespace shoal
