#ifndef SHOAL_JOB_LOST_EXIT_H_
#define SHOAL_JOB_LOST_EXIT_H_

#include "job/exit_code.h"
#include "launch/job_flags.h"

namespace shoal {

// The exit code of each command and process whose job has lost a process:
// kExitLost if the same command goes on from the newest checkpoint, which needs
// --model_dir and is refused with --resume=never; otherwise kExitFailed.
ExitCode LostExit(const JobFlags& flags);

}  // namespace shoal

#endif  // SHOAL_JOB_LOST_EXIT_H_
