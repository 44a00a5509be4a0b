#include "launch/flags/mode_flags.h"

#include "absl/strings/str_cat.h"
#include "launch/job_flags.h"

namespace shoal {

void ModeFlags::AddRows(JobFlagRows* rows) {
  rows->Group("Modes");
  rows->Add(kAllCommands, Canonical::kInJob,
            {"ssp_bound", &ssp_bound,
             "Number of steps that a worker may be ahead of the slowest worker "
             "with --mode=ssp. --pipeline_depth is added to it. 0: all workers "
             "do a step before a worker does the next one.",
             IntRange{0, 1 << 20}});
}

absl::Status ModeFlags::Validate(const JobFlags& job) const {
  if (job.training.mode != TrainingMode::kSsp &&
      ssp_bound != ModeFlags().ssp_bound) {
    return absl::InvalidArgumentError(
        absl::StrCat("--ssp_bound=", ssp_bound, " is for --mode=ssp, and this "
                     "is --mode=", job.training.ModeName(),
                     "; give --mode=ssp, or leave --ssp_bound out"));
  }
  return absl::OkStatus();
}

}  // namespace shoal
