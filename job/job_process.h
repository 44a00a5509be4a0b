#ifndef SHOAL_JOB_JOB_PROCESS_H_
#define SHOAL_JOB_JOB_PROCESS_H_

#include "absl/status/status.h"
#include "job/exit_code.h"

namespace shoal {

// A process of a job: a PS (job/ps_process.h) or a worker
// (job/worker_process.h). The main thread's.
class JobProcess {
 public:
  virtual ~JobProcess() = default;

  // Takes its part in the job. Call once, first. An error: it could not use
  // its flags or the place it is in, and has no part.
  virtual absl::Status Start() = 0;

  // After Start was OK: returns when the process has nothing left to do in the
  // job, or a signal has ended that, and has told how it was.
  virtual ExitCode WaitForEnd() = 0;
};

}  // namespace shoal

#endif  // SHOAL_JOB_JOB_PROCESS_H_
