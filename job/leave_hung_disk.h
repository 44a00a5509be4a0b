#ifndef SHOAL_JOB_LEAVE_HUNG_DISK_H_
#define SHOAL_JOB_LEAVE_HUNG_DISK_H_

#include "absl/time/time.h"
#include "base/logger.h"
#include "base/thread_executor.h"
#include "job/exit_code.h"

namespace shoal {

// Ends a process that cannot wait for its disk. Call it when the process has
// reported its end and is to exit with `code`. If `code` is not kExitOk and
// `disk`, which writes and syncs files, is not idle within `timeout`, this logs
// an error and exits at once: a thread whose write hangs cannot be joined. With
// kExitOk this returns, and the process waits for its last writes, however
// long.
void LeaveHungDisk(ThreadExecutor* disk, absl::Duration timeout, ExitCode code,
                   Logger* logger);

}  // namespace shoal

#endif  // SHOAL_JOB_LEAVE_HUNG_DISK_H_
