#ifndef SHOAL_JOB_STEP_ROOM_H_
#define SHOAL_JOB_STEP_ROOM_H_

#include "absl/status/status.h"
#include "job/job_plan.h"
#include "launch/job_flags.h"
#include "rpc/server.h"

namespace shoal {

// Raises the limits of a PS's server so that it can hold the parked push of
// every rank at once, beside the pulls of all ranks and copies of their pushes
// (ps/shard/step_shard.h). A server without room for the last push of a step
// would never complete the step. The limits reserve nothing: whether the host
// can hold the pushes is for the memory forecast to say, which prints their
// bytes and refuses a job that does not fit (job/memory_forecast.h).
void SetRoomForSteps(const JobFlags& flags, const JobPlan& plan,
                     RpcServerOptions* options);

// INVALID_ARGUMENT, which names the flag, if the job has more workers than a
// step has batches.
absl::Status CheckRanks(const JobFlags& flags);

}  // namespace shoal

#endif  // SHOAL_JOB_STEP_ROOM_H_
