#ifndef SHOAL_JOB_LEAVE_HUNG_DISK_H_
#define SHOAL_JOB_LEAVE_HUNG_DISK_H_

#include "absl/time/time.h"
#include "base/logger.h"
#include "base/thread_executor.h"
#include "job/exit_code.h"

namespace shoal {

// For a process that ends with `code` and has told all: a thread whose write
// hangs cannot be joined. If `code` is not kExitOk and `disk`, which writes and
// syncs files, is not idle within `timeout`, this says so and ends the process
// at once. A job that is done waits for its last writes, however long.
void LeaveHungDisk(ThreadExecutor* disk, absl::Duration timeout, ExitCode code,
                   Logger* logger);

}  // namespace shoal

#endif  // SHOAL_JOB_LEAVE_HUNG_DISK_H_
