#ifndef SHOAL_JOB_SERVER_CLIENTS_H_
#define SHOAL_JOB_SERVER_CLIENTS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "base/telemetry.h"
#include "core/parameter_service.h"
#include "core/payload_bytes.h"
#include "job/job_plan.h"
#include "launch/job_flags.h"
#include "rpc/client_loop.h"

namespace shoal {

// The clients by which the worker of these flags calls the parameter servers of
// the plan, one for each, by index; copies of ranks are not among them. They
// repeat calls that fail for a passing reason, counted in `retries`, and
// complete on `train`. Their payload is added to
// `payload`. `loop`, `train`, `payload` and `retries` outlive the clients.
// Errors: those of ParameterClientOptions::Validate.
absl::StatusOr<std::vector<std::shared_ptr<ParameterService>>> ConnectToServers(
    const JobFlags& flags, const JobPlan& plan, const std::string& token,
    ClientLoop* loop, Executor* train, PayloadCounters* payload,
    Counter* retries);

}  // namespace shoal

#endif  // SHOAL_JOB_SERVER_CLIENTS_H_
