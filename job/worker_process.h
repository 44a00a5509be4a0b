#ifndef SHOAL_JOB_WORKER_PROCESS_H_
#define SHOAL_JOB_WORKER_PROCESS_H_

#include <memory>
#include <string>

#include "job/job_plan.h"
#include "job/job_process.h"
#include "job/main_wait.h"
#include "launch/job_flags.h"

namespace shoal {

// The process of shoal-worker: one worker, with a client for every server.
// `wait` outlives the process. REQUIRES: flags.Validate() was OK, and the plan
// is that of the flags.
std::unique_ptr<JobProcess> NewWorkerProcess(const JobFlags& flags,
                                             JobPlan plan, std::string token,
                                             MainWait* wait);

}  // namespace shoal

#endif  // SHOAL_JOB_WORKER_PROCESS_H_
