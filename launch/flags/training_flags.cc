#include "launch/flags/training_flags.h"

namespace shoal {

void TrainingFlags::AddRows(JobFlagRows* rows) {
  rows->Group("Training");
  rows->Add(kAllCommands, Canonical::kYes,
            {"task_type", &task_type,
             "What to do: train; eval scores --val_data_dir; infer writes "
             "predictions for it.",
             Choices{{"train", "eval", "infer"}, {"export"}}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"mode", &mode, "When gradients are applied: async is on arrival.",
             Choices{{"async"}, {"ssp", "sync", "ring", "hybrid"}}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"batch_size", &batch_size, "Examples of a batch.",
             IntRange{1, 1 << 20}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"num_epochs", &num_epochs, "Passes over the data.",
             IntRange{1, 1 << 20}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"pipeline_depth", &pipeline_depth,
             "0 pulls the next batch after the push of this one, 1 beside "
             "it, 2 before this one is computed; -1: 0 in one process, 1 "
             "over gRPC.",
             IntRange{-1, 2}});
  rows->Add(
      kAllCommands, Canonical::kNo,
      {"warmup_steps", &warmup_steps,
       "Steps of the job before its steady speed is measured.", IntRange{0}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"canary", &canary,
             "Check that every push counts once: each also adds 1 to a row "
             "of its own on every shard, and at the end all must be 1."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"backend", &backend,
             "Arithmetic of the model: reference is plain loops; auto "
             "takes the fastest there is.",
             Choices{{"auto", "reference", "onednn"}, {"cuda"}}});
  rows->Add(
      kAllCommands, Canonical::kNo,
      {"first_layer", &first_layer,
       "How deepfm computes its first deep layer, the results equal but for "
       "rounding: dense multiplies each occurrence of an embedding, "
       "distinct each different one of a batch; auto takes what it "
       "estimates to cost less.",
       Choices{{"auto", "dense", "distinct"}, {}}});
}

}  // namespace shoal
