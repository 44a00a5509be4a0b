#ifndef SHOAL_LAUNCH_FLAGS_MODE_FLAGS_H_
#define SHOAL_LAUNCH_FLAGS_MODE_FLAGS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "core/reduction.h"
#include "launch/flags/job_flag_rows.h"

namespace shoal {

struct JobFlags;

// The settings of the single modes of training. --mode itself is one of
// TrainingFlags.
struct ModeFlags {
  int ssp_bound = 3;
  int backup_workers = 0;
  Reduction reduction = Reduction::kFast;
  int64_t bucket_bytes = 512 << 10;

  // Adds the rows of these flags. The rows are bound to this object.
  void AddRows(JobFlagRows* rows);

  // INVALID_ARGUMENT: a setting of another mode than that of the job, or one
  // that does not fit the number of workers. REQUIRES: the numbers of `job` are
  // counted (ClusterFlags::CountHosts).
  absl::Status Validate(const JobFlags& job) const;
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FLAGS_MODE_FLAGS_H_
