#include "job/leave_hung_disk.h"

#include <unistd.h>

#include <cstdio>

namespace shoal {

void LeaveHungDisk(ThreadExecutor* disk, absl::Duration timeout, ExitCode code,
                   Logger* logger) {
  if (code == kExitOk || disk->WaitUntilIdle(timeout)) return;
  logger->Error(
      "a write below --model_dir hangs; the process exits without waiting for "
      "it");
  std::fflush(nullptr);
  _exit(code);
}

}  // namespace shoal
