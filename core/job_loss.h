#ifndef SHOAL_CORE_JOB_LOSS_H_
#define SHOAL_CORE_JOB_LOSS_H_

#include "absl/status/status.h"

namespace shoal {

// True if a job that ended with this status (JobEnd, JobReport) ended because
// it lost a process, such as a server with its shard, so that the same job may
// go on from its newest checkpoint. Such an end has the code UNAVAILABLE, and
// no other end of a job has it (coordinator/job_finish.h).
inline bool LostProcess(const absl::Status& job_end) {
  return absl::IsUnavailable(job_end);
}

// True if a registration was refused with this status by a job that is ending
// because it lost a process. The refusal has the code ABORTED, which no other
// refusal has and which is not tried again: the job may be started again, and
// then all of its processes are.
inline bool RefusedByLostJob(const absl::Status& refusal) {
  return absl::IsAborted(refusal);
}

}  // namespace shoal

#endif  // SHOAL_CORE_JOB_LOSS_H_
