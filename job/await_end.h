#ifndef SHOAL_JOB_AWAIT_END_H_
#define SHOAL_JOB_AWAIT_END_H_

#include <string>

#include "base/logger.h"
#include "base/thread_executor.h"
#include "core/cluster_member.h"
#include "job/exit_code.h"
#include "job/job_link.h"
#include "job/main_wait.h"
#include "job/to_main.h"
#include "launch/job_flags.h"

namespace shoal {

// A process whose parts have started, as AwaitEnd sees it. All outlive the
// call.
struct StartedProcess {
  std::string name;  // "ps 1"
  const JobFlags* flags = nullptr;
  MainWait* wait = nullptr;
  Logger* logger = nullptr;
  JobLink* link = nullptr;
  // The end of the process's part in the job.
  const ToMain<MemberEnd>* part_end = nullptr;
  // The executor that writes below --model_dir.
  ThreadExecutor* disk = nullptr;
};

// Waits on the main thread until the process's part in the job is over, and the
// job is, as far as the link waits for that. Passes signals on to the link,
// which may call `stop_part`. Reports the end, and returns what the process
// exits with. Does not return if a write below --model_dir hangs
// (job/leave_hung_disk.h), or after a second SIGINT (job/quit_at_once.h).
ExitCode AwaitEnd(const StartedProcess& process, JobLink::StopPart stop_part);

}  // namespace shoal

#endif  // SHOAL_JOB_AWAIT_END_H_
