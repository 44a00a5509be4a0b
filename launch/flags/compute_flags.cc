#include "launch/flags/compute_flags.h"

#include "absl/strings/str_cat.h"
#include "launch/choice.h"
#include "launch/flag_value.h"
#include "launch/job_flags.h"

namespace shoal {

void ComputeFlags::AddRows(JobFlagRows* rows) {
  rows->Group("Compute");
  rows->Add(kAllCommands, Canonical::kInCheckpointIfSet,
            {"compute", ChoiceTarget(&compute, kComputeSources),
             absl::StrCat("Work of a worker on a batch: ",
                          ChoiceHelp(kComputeSources), ".")});
  rows->Add(kAllCommands, Canonical::kNo,
            {"compute_profile", &compute_profile,
             "File of --record_compute whose times --compute=replay and busy "
             "take. Every worker reads the file."});
  rows->Add(
      kAllCommands, Canonical::kNo,
      {"compute_scale", &compute_scale,
       "Factor of the times of --compute=replay: 2 plays a machine that "
       "computes half as fast. With --compute=real and busy a batch lasts "
       "at least so many times its processor time. Workers may have "
       "different factors.",
       RealRange{0, 64, /*above_min=*/true}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"record_compute", &record_compute,
             "File on its host into which worker 0 writes, at its end, how "
             "much processor time it computed for its batches."});
}

absl::Status ComputeFlags::Validate(const JobFlags& job) const {
  const std::string given =
      absl::StrCat("--compute=", ChoiceWord(kComputeSources, compute));
  if (Replays() && OnlyScores(job.command)) {
    return absl::InvalidArgumentError(absl::StrCat(
        given,
        ", of the checkpoint's training or as it is given, "
        "computes no model, so there is nothing to score; give a checkpoint of "
        "a training with --compute=real, and leave the flag out"));
  }
  if (!job.training.Trains() && (Replays() || !record_compute.empty())) {
    return absl::InvalidArgumentError(absl::StrCat(
        Replays() ? given : absl::StrCat("--record_compute=", record_compute),
        " is for training, and this is --task_type=", job.training.TaskName(),
        "; leave it out"));
  }
  if (Replays() && !record_compute.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--record_compute=", record_compute,
                     " records how long a model computes, and with ", given,
                     " no "
                     "model computes; leave one of the two flags out"));
  }
  // A parameter server has no use for the file.
  if (Replays() && compute_profile.empty() && job.command != Command::kPs) {
    return absl::InvalidArgumentError(
        absl::StrCat(given,
                     " needs --compute_profile, a file that a real run with "
                     "--record_compute=FILE has written"));
  }
  if (!Replays() && !compute_profile.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--compute_profile=", compute_profile,
        " is for --compute=replay and busy, and this is --compute=real; give "
        "one of them, or leave --compute_profile out"));
  }
  if (compute != ComputeSource::kReplay && compute_scale < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--compute_scale=", compute_scale,
                     " is for --compute=replay, and "
                     "this is ",
                     given,
                     ", which computes no faster than its core; give 1 "
                     "or more, or --compute=replay"));
  }
  return absl::OkStatus();
}

}  // namespace shoal
