#include "launch/flags/training_flags.h"

#include "absl/strings/str_cat.h"
#include "core/backend_names.h"

namespace shoal {
void TrainingFlags::AddRows(JobFlagRows* rows) {
  rows->Group("Training");
  rows->Add(kAllCommands, Canonical::kInJob,
            {"task_type", ChoiceTarget(&task_type, kJobTasks),
             absl::StrCat("Task of the job: ", ChoiceHelp(kJobTasks), "."),
             NotThereYet{WordList(kPlannedJobTasks)}});
  rows->Add(kAllCommands, Canonical::kInJob,
            {"mode", ChoiceTarget(&mode, kTrainingModes),
             absl::StrCat("Consistency mode: ", ChoiceHelp(kTrainingModes),
                          ".")});
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"batch_size", &batch_size, "Number of examples in a batch.",
             IntRange{1, 1 << 20}});
  rows->Add(kAllCommands, Canonical::kInJob,
            {"num_epochs", &num_epochs,
             "Number of passes over the data. A job with more than 4,194,304 "
             "pieces (--piece_bytes) times epochs is refused at the start.",
             IntRange{1, 1 << 20}});
  rows->Add(kAllCommands, Canonical::kInJob,
            {"pipeline_depth", &pipeline_depth,
             "Overlap of batches in a worker: 0 pulls the next batch after "
             "the push of this one, 1 during that push, 2 before this one is "
             "computed. -1: 0 in one process, 1 over gRPC, and 0 with "
             "--mode=sync, ring and hybrid.",
             IntRange{-1, 2}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"warmup_steps", &warmup_steps,
             "Number of steps of the job before its steady speed is measured.",
             IntRange{0}});
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"canary", &canary,
             "True to check that every push counts once: each push also adds "
             "1 to a row of its own on every shard, and at the end all these "
             "rows must be 1."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"backend", ChoiceTarget(&backend, WordList(kBackendNames)),
             "Implementation of the model's arithmetic: reference is plain "
             "loops; auto takes the fastest one available.",
             NotThereYet{WordList(kPlannedBackendNames)}});
  rows->Add(
      kAllCommands, Canonical::kNo,
      {"first_layer", ChoiceTarget(&first_layer, kFirstLayers),
       absl::StrCat("Method for the first deep layer of deepfm: ",
                    ChoiceHelp(kFirstLayers),
                    ". Results are equal except for rounding.")});
}

absl::Status TrainingFlags::Validate(Command command) const {
  for (const TrainingModeRow& row : kTrainingModes) {
    if (row.value == mode) return CheckDepth(row, command, pipeline_depth);
  }
  return absl::OkStatus();  // never: every mode has a row
}

absl::Status CheckDepth(const TrainingModeRow& mode, Command command,
                        int depth) {
  const int own = IsOneProcess(command) ? mode.depth_in_one_process
                                        : mode.depth_over_network;
  if (!mode.depth_is_fixed || depth < 0 || depth == own) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--pipeline_depth=", depth, ": --mode=", mode.word,
                   " has depth ", own, ", because a step begins after the one "
                   "before it is applied; leave --pipeline_depth out"));
}

std::string TrainingFlags::TaskName() const {
  return ChoiceWord(kJobTasks, task_type);
}

std::string TrainingFlags::ModeName() const {
  return ChoiceWord(kTrainingModes, mode);
}

}  // namespace shoal
