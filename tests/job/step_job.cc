#include "tests/job/step_job.h"

#include "absl/strings/str_cat.h"
#include "base/stable_hash.h"
#include "coordinator/coordinator_options.h"
#include "job/training_mode.h"
#include "launch/job_flags.h"
#include "tests/harness/in_process_run.h"

namespace shoal {
namespace {

constexpr int kFields = 5;
constexpr int kBatchSize = 20;

float RateOf(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::kSgd:
      return 0.2f;
    case OptimizerKind::kAdagrad:
      return 0.05f;
    default:
      return 0.01f;
  }
}

}  // namespace

std::string StepJobRows(uint64_t seed, int rows) {
  std::string text;
  for (int i = 0; i < rows; ++i) {
    const uint64_t key = StableHashCombine(seed, i);
    std::string features;
    int odd = 0;
    // Every seventh row is short.
    const int fields = i % 7 == 0 ? kFields - 2 : kFields;
    for (int f = 0; f < fields; ++f) {
      const uint64_t id = StableHashCombine(key, f) % kStepJobIds;
      odd += id % 2 == 1;
      absl::StrAppend(&features, " ", id, ":0.", 1 + key % 9);
    }
    absl::StrAppend(&text, 2 * odd > fields ? 1 : 0, features, "\n");
  }
  return text;
}

InProcessJobOptions StepJobOptions(OptimizerKind kind, int ranks) {
  InProcessJobOptions options = SmallDeepFm(kStepJobIds, kFields);
  OptimizerSpec& dense = options.model.dense_optimizer;
  dense.kind = kind;
  dense.learning_rate = RateOf(kind);
  dense.warmup_batches = 7;
  dense.l2 = 1e-3f;
  options.model.table_optimizer = dense;
  options.model.dropout_keep = {0.8f, 0.9f};
  options.partition.cut_dense_bytes = 256;
  options.canary = true;
  options.workers = ranks;
  options.coordinator.batch_size = kBatchSize;
  options.ring.reduction = Reduction::kRankOrder;
  options.ring.bucket_bytes = 256;
  return options;
}

void AddUnevenFiles(FakeFileSystem* files, InProcessJobOptions* options) {
  const int ranks = options->workers;
  for (int i = 0; i < 3; ++i) {
    files->AddFile(absl::StrCat("uneven/", i),
                   StepJobRows(i, (100 + 90 * i) * ranks + i));
  }
  options->coordinator.num_epochs = 2;
  options->coordinator.piece_bytes = 3000;
  options->train = ListOrFail(*files, "uneven");
}

void AddTenSteps(FakeFileSystem* files, InProcessJobOptions* options) {
  for (int i = 0; i < options->workers; ++i) {
    files->AddFile(absl::StrCat("ten/", i),
                   StepJobRows(i, 10 * kBatchSize - 27 * i));
  }
  options->coordinator.piece_bytes = 0;
  options->train = ListOrFail(*files, "ten");
}

void SetMode(TrainingMode mode, InProcessJobOptions* options) {
  options->mode = &KindOf(mode);
  options->mode->compose(JobFlags(Command::kTrain), &options->coordinator);
}

}  // namespace shoal
