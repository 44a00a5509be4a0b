#ifndef SHOAL_LAUNCH_FLAGS_LIMIT_FLAGS_H_
#define SHOAL_LAUNCH_FLAGS_LIMIT_FLAGS_H_

#include <cstdint>

#include "launch/flags/job_flag_rows.h"

namespace shoal {

// How much a process may take.
struct LimitFlags {
  uint64_t max_ps_bytes = 0;
  int64_t max_message_bytes = int64_t{64} << 20;

  // Adds the rows of these flags; they are bound to this object.
  void AddRows(JobFlagRows* rows);

  // There is no Validate(): each limit stands alone, and its row has the range
  // that it may have.
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FLAGS_LIMIT_FLAGS_H_
