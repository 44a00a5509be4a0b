#ifndef SHOAL_JOB_RANK_PROCESS_H_
#define SHOAL_JOB_RANK_PROCESS_H_

#include <memory>
#include <string>

#include "job/job_plan.h"
#include "job/job_process.h"
#include "job/main_wait.h"
#include "launch/job_flags.h"

namespace shoal {

// The process of shoal-worker in a mode whose workers hold copies of variables
// (JobFlags::HasCopies): a rank, with one worker and one PS, which holds the
// copy and serves this worker alone. If it leads the job (JobFlags::Leads), it
// also holds the coordinator, for which it listens on
// JobFlags::CoordinatorAddress(), and reports the job. `wait` outlives the
// process. REQUIRES: flags.Validate() was OK, and the plan is that of the
// flags.
std::unique_ptr<JobProcess> NewRankProcess(const JobFlags& flags, JobPlan plan,
                                           std::string token, MainWait* wait);

}  // namespace shoal

#endif  // SHOAL_JOB_RANK_PROCESS_H_
