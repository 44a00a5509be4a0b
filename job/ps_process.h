#ifndef SHOAL_JOB_PS_PROCESS_H_
#define SHOAL_JOB_PS_PROCESS_H_

#include <memory>
#include <string>

#include "job/job_plan.h"
#include "job/job_process.h"
#include "job/main_wait.h"
#include "launch/job_flags.h"

namespace shoal {

// What shoal-ps is composed of: one PS behind an RPC server and, where it is
// task 0, the coordinator, of whose job it tells. `wait` outlives the process.
// REQUIRES: flags.Validate() was OK, and the plan is that of the flags.
std::unique_ptr<JobProcess> NewPsProcess(const JobFlags& flags, JobPlan plan,
                                         std::string token, MainWait* wait);

}  // namespace shoal

#endif  // SHOAL_JOB_PS_PROCESS_H_
