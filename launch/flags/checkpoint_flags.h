#ifndef SHOAL_LAUNCH_FLAGS_CHECKPOINT_FLAGS_H_
#define SHOAL_LAUNCH_FLAGS_CHECKPOINT_FLAGS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "launch/flags/job_flag_rows.h"

namespace shoal {

struct JobFlags;

// The checkpoints that a job writes, and the one that it begins from.
struct CheckpointFlags {
  enum class Resume { kAuto, kNever, kMust };

  std::string model_dir;
  std::string checkpoint;  // for commands that only score; "": the newest one
  Resume resume = Resume::kAuto;
  int64_t save_checkpoint_steps = 0;
  absl::Duration save_checkpoint_secs = absl::Seconds(600);
  int keep_checkpoints = 5;
  absl::Duration save_timeout = absl::Seconds(120);
  absl::Duration stop_timeout = absl::Seconds(20);
  absl::Duration save_retry_timeout = absl::Seconds(60);

  // Adds the rows of these flags. The rows are bound to this object.
  void AddRows(JobFlagRows* rows);

  // INVALID_ARGUMENT: flags of this group do not go together, or do not go with
  // other flags of `job`, which this group is part of.
  absl::Status Validate(const JobFlags& job) const;
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FLAGS_CHECKPOINT_FLAGS_H_
