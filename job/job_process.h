#ifndef SHOAL_JOB_JOB_PROCESS_H_
#define SHOAL_JOB_JOB_PROCESS_H_

#include "absl/status/status.h"
#include "job/exit_code.h"

namespace shoal {

// A process of a job: a PS (job/ps_process.h) or a worker
// (job/worker_process.h). Thread-hostile: use it on the main thread.
class JobProcess {
 public:
  virtual ~JobProcess() = default;

  // Begins the process's part in the job. Call once, first. May wait for the
  // host names of other processes, --start_timeout at most. An error means that
  // the process has no part in the job: DEADLINE_EXCEEDED (a host name did not
  // resolve), CANCELLED (a signal came meanwhile), or that the process could
  // not use its flags, files or ports.
  virtual absl::Status Start() = 0;

  // REQUIRES: Start was OK. Returns when the process has nothing left to do in
  // the job, or a signal has ended its part, and when it has reported how it
  // ended.
  virtual ExitCode WaitForEnd() = 0;
};

}  // namespace shoal

#endif  // SHOAL_JOB_JOB_PROCESS_H_
