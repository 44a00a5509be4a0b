#ifndef SHOAL_LAUNCH_FLAGS_MODE_FLAGS_H_
#define SHOAL_LAUNCH_FLAGS_MODE_FLAGS_H_

#include "absl/status/status.h"
#include "launch/flags/job_flag_rows.h"

namespace shoal {

struct JobFlags;

// The settings of the single modes of training. --mode itself is one of
// TrainingFlags.
struct ModeFlags {
  int ssp_bound = 3;

  // Adds the rows of these flags. The rows are bound to this object.
  void AddRows(JobFlagRows* rows);

  // INVALID_ARGUMENT: a setting of another mode than that of the job.
  absl::Status Validate(const JobFlags& job) const;
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FLAGS_MODE_FLAGS_H_
