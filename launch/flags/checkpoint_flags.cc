#include "launch/flags/checkpoint_flags.h"

#include "absl/strings/str_cat.h"
#include "launch/job_flags.h"

namespace shoal {
namespace {

using Resume = CheckpointFlags::Resume;
constexpr Choice<Resume> kResumes[] = {{Resume::kAuto, "auto"},
                                       {Resume::kNever, "never"},
                                       {Resume::kMust, "must"}};

}  // namespace

void CheckpointFlags::AddRows(JobFlagRows* rows) {
  rows->Group("Checkpoints");
  const DurationRange some = {absl::Milliseconds(1), absl::Hours(24)};
  rows->Add(kAllCommands, Canonical::kNo,
            {"model_dir", &model_dir,
             "Directory of the job's checkpoints, for this job alone: the "
             "same one for all processes, or one on each host's own disk. "
             "Left out: no checkpoints are written."});
  rows->Add(kScoring, Canonical::kNo,
            {"checkpoint", &checkpoint,
             "Checkpoint whose model is used: its directory, as in "
             "MODEL_DIR/ckpt-00000001000, in place of --model_dir. `shoal ckpt "
             "ls MODEL_DIR` lists the checkpoints."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"resume", ChoiceTarget(&resume, kResumes),
             "Use of the newest checkpoint in --model_dir: auto begins from "
             "it if there is one, must fails without one, never begins with "
             "initial weights."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"save_checkpoint_steps", &save_checkpoint_steps,
             "Number of batches to train between two checkpoints, beside "
             "those of --save_checkpoint_secs. 0: batches are not counted.",
             IntRange{0}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"save_checkpoint_secs", &save_checkpoint_secs,
             "Time from the end of one checkpoint to the beginning of the "
             "next, with --model_dir. 0: time is not counted. Without both, "
             "checkpoints are saved only at the end, when the job is stopped "
             "and on request.",
             DurationRange{}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"keep_checkpoints", &keep_checkpoints,
             "Number of checkpoints to keep, the newest ones; 0: all.",
             IntRange{0, 1 << 20}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"save_timeout", &save_timeout,
             "Longest time that training may stand still for a checkpoint; "
             "after it the checkpoint is given up and training goes on. The "
             "disks then have the same time again to sync the files, while "
             "training goes on. The job fails if its last checkpoint is late.",
             some});
  rows->Add(
      kAllCommands, Canonical::kNo,
      {"stop_timeout", &stop_timeout,
       "Longest time for the checkpoint that SIGTERM, SIGHUP or the first "
       "SIGINT (Ctrl-C) asks for, before the job stops without it.",
       some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"save_retry_timeout", &save_retry_timeout,
             "Time for which the last checkpoint is tried again if the disk "
             "is full, before the job fails without it. A job that is stopped "
             "tries for --stop_timeout at most.",
             DurationRange{}});
}

absl::Status CheckpointFlags::Validate(const JobFlags& job) const {
  if (!model_dir.empty()) return absl::OkStatus();
  if (save_checkpoint_steps > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--save_checkpoint_steps=", save_checkpoint_steps,
                     ": give --model_dir too, where checkpoints are kept"));
  }
  if (resume == Resume::kMust) {
    return absl::InvalidArgumentError(
        "--resume=must: give --model_dir too, where the checkpoint is");
  }
  if (!job.training.Trains() && resume != Resume::kNever) {
    return absl::InvalidArgumentError(absl::StrCat(
        job.TaskText(),
        " takes the model of a checkpoint: give its --model_dir, or "
        "--resume=never for the initial weights"));
  }
  return absl::OkStatus();
}

}  // namespace shoal
