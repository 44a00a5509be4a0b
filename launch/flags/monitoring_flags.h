#ifndef SHOAL_LAUNCH_FLAGS_MONITORING_FLAGS_H_
#define SHOAL_LAUNCH_FLAGS_MONITORING_FLAGS_H_

#include <string>

#include "absl/status/status.h"
#include "launch/flags/job_flag_rows.h"

namespace shoal {

struct JobFlags;

// The outputs by which a running job is watched, and the check of memory before
// it starts.
struct MonitoringFlags {
  int metrics_port = 0;  // 0: none
  std::string metrics_listen = "127.0.0.1";
  std::string tensorboard_dir;
  bool memory_check = true;

  // Adds the rows of these flags. The rows are bound to this object.
  void AddRows(JobFlagRows* rows);

  // INVALID_ARGUMENT: flags of this group do not go together, or do not go with
  // other flags of `job`, which this group is part of.
  absl::Status Validate(const JobFlags& job) const;
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FLAGS_MONITORING_FLAGS_H_
