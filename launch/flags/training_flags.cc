#include "launch/flags/training_flags.h"

#include <vector>

#include "absl/types/span.h"
#include "core/backend_names.h"

namespace shoal {
namespace {

using Task = TrainingFlags::Task;
constexpr Choice<Task> kTasks[] = {
    {Task::kTrain, "train"}, {Task::kEval, "eval"}, {Task::kInfer, "infer"}};

constexpr Choice<TrainingFlags::Mode> kModes[] = {
    {TrainingFlags::Mode::kAsync, "async"}};

constexpr Choice<TrainingFlags::FirstLayer> kFirstLayers[] = {
    {TrainingFlags::FirstLayer::kAuto, "auto"},
    {TrainingFlags::FirstLayer::kDense, "dense"},
    {TrainingFlags::FirstLayer::kDistinct, "distinct"}};

std::vector<std::string> Words(absl::Span<const char* const> names) {
  return {names.begin(), names.end()};
}

}  // namespace

void TrainingFlags::AddRows(JobFlagRows* rows) {
  rows->Group("Training");
  rows->Add(kAllCommands, Canonical::kInJob,
            {"task_type", ChoiceTarget(&task_type, kTasks),
             "What to do: train; eval scores --val_data_dir; infer writes "
             "predictions for it.",
             NotThereYet{{"export"}}});
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"mode", ChoiceTarget(&mode, kModes),
             "When gradients are applied: async is on arrival.",
             NotThereYet{{"ssp", "sync", "ring", "hybrid"}}});
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"batch_size", &batch_size, "Examples of a batch.",
             IntRange{1, 1 << 20}});
  rows->Add(kAllCommands, Canonical::kInJob,
            {"num_epochs", &num_epochs, "Passes over the data.",
             IntRange{1, 1 << 20}});
  rows->Add(kAllCommands, Canonical::kInJob,
            {"pipeline_depth", &pipeline_depth,
             "0 pulls the next batch after the push of this one, 1 beside "
             "it, 2 before this one is computed; -1: 0 in one process, 1 "
             "over gRPC.",
             IntRange{-1, 2}});
  rows->Add(
      kAllCommands, Canonical::kNo,
      {"warmup_steps", &warmup_steps,
       "Steps of the job before its steady speed is measured.", IntRange{0}});
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"canary", &canary,
             "Check that every push counts once: each also adds 1 to a row "
             "of its own on every shard, and at the end all must be 1."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"backend", ChoiceTarget(&backend, Words(kBackendNames)),
             "Arithmetic of the model: reference is plain loops; auto "
             "takes the fastest there is.",
             NotThereYet{Words(kPlannedBackendNames)}});
  rows->Add(
      kAllCommands, Canonical::kNo,
      {"first_layer", ChoiceTarget(&first_layer, kFirstLayers),
       "How deepfm computes its first deep layer, the results equal but for "
       "rounding: dense multiplies each occurrence of an embedding, "
       "distinct each different one of a batch; auto takes what it "
       "estimates to cost less."});
}

std::string TrainingFlags::TaskName() const {
  return ChoiceWord(kTasks, task_type);
}

std::string TrainingFlags::ModeName() const { return ChoiceWord(kModes, mode); }

}  // namespace shoal
