#ifndef SHOAL_LAUNCH_FLAGS_LIMIT_FLAGS_H_
#define SHOAL_LAUNCH_FLAGS_LIMIT_FLAGS_H_

#include <cstdint>

#include "launch/flags/job_flag_rows.h"

namespace shoal {

// The most memory and the largest messages of a process.
struct LimitFlags {
  uint64_t max_ps_bytes = 0;
  int64_t max_message_bytes = int64_t{64} << 20;

  // Adds the rows of these flags. The rows are bound to this object.
  void AddRows(JobFlagRows* rows);

  // There is no Validate(): no flag of this group limits another one, and the
  // row of each flag has its range.
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FLAGS_LIMIT_FLAGS_H_
