#ifndef SHOAL_LAUNCH_FLAGS_DEADLINE_FLAGS_H_
#define SHOAL_LAUNCH_FLAGS_DEADLINE_FLAGS_H_

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "launch/flags/job_flag_rows.h"

namespace shoal {

// Times that processes wait for each other, and between their messages.
struct DeadlineFlags {
  absl::Duration heartbeat = absl::Seconds(1);
  absl::Duration silent_after = absl::Seconds(5);
  absl::Duration worker_lease = absl::Seconds(10);
  absl::Duration ps_lease = absl::Seconds(5);
  absl::Duration mark_interval = absl::Milliseconds(20);
  absl::Duration pull_timeout = absl::Seconds(10);
  absl::Duration push_timeout = absl::Seconds(10);
  absl::Duration start_timeout = absl::Seconds(120);
  absl::Duration worker_grace = absl::Seconds(3);
  absl::Duration speculate_after = absl::Seconds(2);
  absl::Duration progress_timeout = absl::Minutes(10);
  absl::Duration stall_after = absl::Seconds(10);
  absl::Duration linger = absl::Seconds(2);
  absl::Duration shutdown_timeout = absl::Seconds(5);

  // Adds the rows of these flags. The rows are bound to this object.
  void AddRows(JobFlagRows* rows);

  // INVALID_ARGUMENT: times of this group do not go together.
  absl::Status Validate() const;
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FLAGS_DEADLINE_FLAGS_H_
