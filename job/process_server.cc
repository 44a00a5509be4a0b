#include "job/process_server.h"

#include "base/status_macros.h"
#include "job/loopback_advice.h"
#include "job/options_from_flags.h"

namespace shoal {

RpcServerOptions ServerOptionsFromFlags(const JobFlags& flags,
                                        const std::string& listen,
                                        const std::string& token,
                                        Logger* logger) {
  RpcServerOptions options = RpcServerOptionsFromFlags(flags);
  options.listen = listen;
  options.token = token;
  options.on_refused = [logger](const std::string& line) {
    logger->Warn(line);
  };
  return options;
}

absl::StatusOr<std::unique_ptr<RpcServer>> StartServer(
    const RpcServerOptions& options, bool has_listen,
    ClusterService* coordinator, Executor* executor, Logger* logger) {
  SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<RpcServer> server,
                         RpcServer::Start(options, coordinator, executor));
  const std::string advice = LoopbackAdvice(options.listen, has_listen);
  if (!advice.empty()) logger->Warn(advice);
  return server;
}

}  // namespace shoal
