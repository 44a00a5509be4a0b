#ifndef SHOAL_JOB_PROCESS_SERVER_H_
#define SHOAL_JOB_PROCESS_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "base/logger.h"
#include "core/cluster_service.h"
#include "launch/job_flags.h"
#include "rpc/server.h"

namespace shoal {

// The options of the server of a process with these flags, which listens on
// `listen`, serves calls that bear `token`, and warns `logger` of the others.
// The logger outlives the server. The options are not validated.
RpcServerOptions ServerOptionsFromFlags(const JobFlags& flags,
                                        const std::string& listen,
                                        const std::string& token,
                                        Logger* logger);

// Starts the server of a process, which serves `coordinator` unless that is
// null and completes on `executor`. Warns if no other host can reach the
// server; `has_listen` is as for LoopbackAdvice. All outlive the server.
// Errors: those of RpcServer::Start.
absl::StatusOr<std::unique_ptr<RpcServer>> StartServer(
    const RpcServerOptions& options, bool has_listen,
    ClusterService* coordinator, Executor* executor, Logger* logger);

}  // namespace shoal

#endif  // SHOAL_JOB_PROCESS_SERVER_H_
