// Whole jobs in one process that save, stop and go on.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/stable_hash.h"
#include "checkpoint/checkpoint_directory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "job/in_process_job.h"
#include "job/model_directory.h"
#include "tests/harness/fake_file_system.h"
#include "tests/harness/in_process_run.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr uint64_t kFeatures = 120;
constexpr int kFields = 4;
constexpr int kRows = 600;
constexpr int kBatch = 16;

std::string Rows(int count) {
  std::string rows;
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&rows, StableHashCombine(9, i) % 2);
    for (int f = 0; f < kFields; ++f) {
      absl::StrAppend(&rows, " ", StableHashCombine(f, i) % kFeatures, ":",
                      1 + i % 3);
    }
    rows += "\n";
  }
  return rows;
}

// A shard whose pulls take a while, so that time passes between batches and the
// coordinator hears of them one by one.
class SlowService : public ParameterService {
 public:
  SlowService(std::shared_ptr<ParameterService> inner, Executor* executor)
      : inner_(std::move(inner)), executor_(executor) {}

  void Pull(PullRequest request, absl::Duration timeout,
            Done<PullReply> done) override {
    executor_->PostAfter(
        absl::Milliseconds(25), [inner = inner_, request = std::move(request),
                                 timeout, done = std::move(done)]() mutable {
          inner->Pull(std::move(request), timeout, std::move(done));
        });
  }
  void Push(PushRequest request, absl::Duration timeout,
            Done<PushReply> done) override {
    inner_->Push(std::move(request), timeout, std::move(done));
  }
  void Stats(StatsRequest request, absl::Duration timeout,
             Done<StatsReply> done) override {
    inner_->Stats(std::move(request), timeout, std::move(done));
  }

 private:
  const std::shared_ptr<ParameterService> inner_;
  Executor* const executor_;
};

struct Options {
  std::string model = "deepfm";
  OptimizerKind optimizer = OptimizerKind::kAdam;
  bool dynamic = false;
  bool canary = false;
  int ps = 1;
  int workers = 1;
  int epochs = 2;
  uint64_t save_steps = 0;
  absl::Duration retry_for = absl::Seconds(60);
  bool resume = false;  // must find a checkpoint
  // Asked at every moment: true stops the job, which is saved first.
  std::function<bool(const JobReport&)> stop;
  // What is done then instead.
  std::function<void(InProcessJob*)> instead;
};

// Jobs one after the other on the same files.
class InProcessCheckpointTest : public testing::Test {
 protected:
  InProcessCheckpointTest() { files_.AddFile("d/tr.libsvm", Rows(kRows)); }

  JobReport Run(const Options& o) {
    InProcessRun run(++schedule_, o.workers, &files_);
    InProcessJobOptions options =
        SmallDeepFm(o.dynamic ? 0 : kFeatures, kFields);
    options.model.model = o.model;
    if (o.model == "deepfm") {
      options.model.dropout_keep = {0.8f, 0.8f};
    } else {
      options.model.deep_layers.clear();
    }
    options.model.dense_optimizer.kind = o.optimizer;
    options.model.dense_optimizer.learning_rate =
        o.model == "deepfm" ? 0.01f : 0.25f;
    options.model.table_optimizer = options.model.dense_optimizer;
    options.model.wide_optimizer = options.model.dense_optimizer;
    options.partition.cut_dense_bytes = 256;
    if (o.dynamic) options.partition.table_kind = PartitionKind::kHash;
    options.canary = o.canary;
    options.ps = o.ps;
    options.workers = o.workers;
    options.coordinator.batch_size = kBatch;
    options.coordinator.num_epochs = static_cast<uint32_t>(o.epochs);
    options.coordinator.piece_bytes = 2500;
    options.worker_loop.trainer.pipeline_depth = o.workers > 1 ? 1 : 0;
    options.train = ListOrFail(files_, "d/tr.libsvm");
    CheckpointOptions& checkpoints = options.coordinator.checkpoints;
    checkpoints.save = true;
    checkpoints.model_dir = "m";
    checkpoints.save_steps = o.save_steps;
    checkpoints.retry_for = o.retry_for;
    checkpoints.first_attempt = first_attempt_ += 1000;
    options.ps_loop.checkpoints.model_dir = "m";
    if (o.resume) {
      auto newest = NewestCheckpoint(files_, "m", /*need_all_files=*/true);
      EXPECT_TRUE(newest.ok()) << newest.status();
      checkpoints.resume_name = newest->name;
      checkpoints.resume_text =
          TextOf(*ReadManifestBytes(files_, newest->path));
      options.coordinator.start = newest->manifest.start + 1;
      checkpoints.resume = std::make_shared<const Manifest>(newest->manifest);
    }
    JobFlags flags(Command::kTrain);
    flags.checkpoints.model_dir = "m";
    flags.checkpoints.keep_checkpoints = 0;
    run.deps.background = run.background();
    run.deps.work.write_manifest =
        ManifestWriter(&files_, flags, run.background(), run.logger());
    run.deps.wrap_service = [&run](int, int,
                                   std::shared_ptr<ParameterService> service) {
      return std::make_shared<SlowService>(std::move(service), run.control());
    };
    bool stopped = false;
    return run.Run(std::move(options), [&](InProcessJob* job) {
      if (o.stop == nullptr || stopped || !o.stop(job->Report())) return;
      stopped = true;
      if (o.instead != nullptr) {
        o.instead(job);
      } else {
        job->SaveAndStop(absl::CancelledError("stopped by a test"));
      }
    });
  }

  void ExpectWhole(const JobReport& report, const Options& o) {
    EXPECT_TRUE(report.status.ok()) << report.status;
    EXPECT_EQ(report.trained, static_cast<uint64_t>(kRows * o.epochs));
    EXPECT_EQ(report.samples, report.trained);
    for (const PsReport& ps : report.ps) {
      EXPECT_EQ(ps.stats.pushes_applied, report.batches);
      if (o.canary) {
        EXPECT_EQ(ps.stats.canary, (CanaryStats{report.batches, 0, 1, 1}));
      }
    }
  }

  // Forgets all checkpoints.
  void Clear() {
    const auto all = ListCheckpoints(files_, "m");
    ASSERT_TRUE(all.ok());
    ASSERT_TRUE(KeepNewest(files_, "m", /*committed=*/"", 1).ok());
    for (const CheckpointInfo& info : *all) {
      const auto entries = files_.ListDirectory(info.path);
      if (!entries.ok()) continue;
      for (const DirectoryEntry& entry : *entries) {
        ASSERT_TRUE(
            files_.Remove(absl::StrCat(info.path, "/", entry.name)).ok());
      }
    }
  }

  FakeFileSystem files_;
  uint64_t schedule_ = 0;
  uint64_t first_attempt_ = 0;
};

TEST_F(InProcessCheckpointTest, TwoEpochsAreOneAndOneMoreBitForBit) {
  for (const OptimizerKind kind :
       {OptimizerKind::kAdam, OptimizerKind::kAdagrad, OptimizerKind::kFtrl}) {
    for (const bool dynamic : {false, true}) {
      SCOPED_TRACE(absl::StrCat(static_cast<int>(kind), dynamic));
      Options o;
      o.optimizer = kind;
      o.dynamic = dynamic;
      const JobReport both = Run(o);
      ExpectWhole(both, o);
      Clear();
      o.epochs = 1;
      const JobReport first = Run(o);
      ExpectWhole(first, o);
      EXPECT_NE(first.digest, both.digest);
      o.epochs = 2;
      o.resume = true;
      const JobReport second = Run(o);
      ExpectWhole(second, o);
      EXPECT_EQ(second.digest, both.digest);
      EXPECT_EQ(second.checkpoint.resumed_samples,
                static_cast<uint64_t>(kRows));
      Clear();
    }
  }
}

TEST_F(InProcessCheckpointTest, StoppedAnywhereItGoesOnBitForBit) {
  Options o;
  const JobReport whole = Run(o);
  Clear();
  for (const uint64_t step : {1, 2, 17, 38, 60}) {
    SCOPED_TRACE(step);
    o.resume = false;
    o.stop = [step](const JobReport& r) { return r.batches >= step; };
    const JobReport cut = Run(o);
    EXPECT_EQ(cut.status.code(), absl::StatusCode::kCancelled) << cut.status;
    EXPECT_EQ(cut.checkpoint.step, cut.batches);
    EXPECT_LT(cut.trained, whole.trained);
    o.resume = true;
    o.stop = nullptr;
    const JobReport rest = Run(o);
    ExpectWhole(rest, o);
    EXPECT_EQ(rest.digest, whole.digest);
    EXPECT_EQ(rest.recomputed, 0u);
    Clear();
  }
}

TEST_F(InProcessCheckpointTest, SavingOftenChangesNothing) {
  Options o;
  const JobReport without = Run(o);
  Clear();
  o.save_steps = 5;
  const JobReport often = Run(o);
  ExpectWhole(often, o);
  EXPECT_EQ(often.digest, without.digest);
  EXPECT_GE(often.checkpoint.saved, often.batches / 5);
  EXPECT_EQ(often.checkpoint.voided, 0u);
  EXPECT_EQ(often.checkpoint.step, often.batches);
  EXPECT_EQ(often.repeats_refused, 0u);
}

TEST_F(InProcessCheckpointTest, EveryNumberOfServersGoesOnFromEveryOther) {
  Options serial;
  serial.model = "linear_probe";
  serial.optimizer = OptimizerKind::kSgd;
  const JobReport whole = Run(serial);
  ExpectWhole(whole, serial);
  Clear();
  for (int n = 1; n <= 3; ++n) {
    for (int m = 1; m <= 3; ++m) {
      for (const bool dynamic : {false, true}) {
        SCOPED_TRACE(absl::StrCat(n, " to ", m, dynamic ? " dynamic" : ""));
        Options o = serial;
        o.dynamic = dynamic;
        o.canary = true;
        o.ps = n;
        o.workers = 2;
        o.stop = [](const JobReport& r) { return r.batches >= 20; };
        const JobReport cut = Run(o);
        EXPECT_EQ(cut.status.code(), absl::StatusCode::kCancelled)
            << cut.status;
        o.ps = m;
        o.workers = 3;
        o.stop = nullptr;
        o.resume = true;
        const JobReport rest = Run(o);
        ExpectWhole(rest, o);
        EXPECT_EQ(rest.digest, whole.digest);
        Clear();
      }
    }
  }
}

TEST_F(InProcessCheckpointTest, AFullDiskCostsTheCheckpointAndItsEndTheJob) {
  Options o;
  o.ps = 2;
  o.save_steps = 25;
  // The second save, whichever step it is: the Hold of its shards is the
  // fourth.
  for (int step = 50; step < 60; ++step) {
    files_.LimitWrites(
        absl::StrCat("m/", CheckpointName(step),
                     "/.shard-00001-of-00002.safetensors.attempt-",
                     first_attempt_ + 1000 + 4),
        100);
  }
  const JobReport once = Run(o);
  ExpectWhole(once, o);
  EXPECT_EQ(once.checkpoint.voided, 1u);
  EXPECT_THAT(once.checkpoint.last_error, HasSubstr("ps 1"));
  EXPECT_EQ(NewestCheckpoint(files_, "m", true)->step, once.batches);
  Clear();

  o.save_steps = 0;
  o.retry_for = absl::ZeroDuration();
  files_.LimitWrites(absl::StrCat("m/", CheckpointName(once.batches),
                                  "/.shard-00000-of-00002.safetensors.attempt-",
                                  first_attempt_ + 1000 + 2),
                     100);
  const JobReport at_end = Run(o);
  EXPECT_EQ(at_end.status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(at_end.trained, static_cast<uint64_t>(kRows * o.epochs));
  EXPECT_FALSE(NewestCheckpoint(files_, "m", true).ok());
  Clear();

  // Another try finds space.
  o.retry_for = absl::Seconds(60);
  files_.LimitWrites(absl::StrCat("m/", CheckpointName(once.batches),
                                  "/.shard-00000-of-00002.safetensors.attempt-",
                                  first_attempt_ + 1000 + 2),
                     100);
  const JobReport again = Run(o);
  ExpectWhole(again, o);
  EXPECT_EQ(again.checkpoint.voided, 1u);
  EXPECT_EQ(NewestCheckpoint(files_, "m", true)->step, again.batches);
}

TEST_F(InProcessCheckpointTest, ADamagedShardIsNamedAndTheJobEnds) {
  Options o;
  Run(o);
  const auto newest = NewestCheckpoint(files_, "m", true);
  ASSERT_TRUE(newest.ok());
  const std::string path = absl::StrCat(newest->path, "/", ShardFileName(0, 1));
  std::string bytes = *files_.Contents(path);
  bytes[bytes.size() / 2] ^= 1;
  files_.AddFile(path, bytes);
  o.epochs = 3;
  o.resume = true;
  const JobReport report = Run(o);
  EXPECT_EQ(report.status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(report.status.message()),
              HasSubstr(ShardFileName(0, 1)));
}

TEST_F(InProcessCheckpointTest, ARequestSavesWhileTheJobGoesOn) {
  Options o;
  o.workers = 2;
  o.stop = [](const JobReport& r) { return r.batches >= 20; };
  absl::StatusOr<SavedCheckpoint> saved = absl::UnknownError("no answer");
  absl::Status refused;
  o.instead = [&](InProcessJob* job) {
    job->cluster()->SaveCheckpoint(
        {"in-process"}, absl::Seconds(10),
        [&](absl::StatusOr<SavedCheckpoint> reply) { saved = reply; });
    job->cluster()->SaveCheckpoint({"another"}, absl::Seconds(10),
                                   [&](absl::StatusOr<SavedCheckpoint> reply) {
                                     refused = reply.status();
                                   });
  };
  const JobReport report = Run(o);
  ExpectWhole(report, o);
  ASSERT_TRUE(saved.ok()) << saved.status();
  EXPECT_GE(saved->step, 20u);
  EXPECT_LT(saved->step, report.batches);
  EXPECT_TRUE(InspectCheckpoint(files_, saved->path).whole());
  EXPECT_EQ(report.checkpoint.saved, 2u) << "and the end";
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace shoal
