#include "job/server_clients.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/status_macros.h"
#include "job/job_token.h"
#include "rpc/parameter_client.h"
#include "rpc/retrying_parameter_service.h"

namespace shoal {

absl::StatusOr<std::vector<std::shared_ptr<ParameterService>>> ConnectToServers(
    const JobFlags& flags, const JobPlan& plan, const std::string& token,
    ClientLoop* loop, Executor* train, PayloadCounters* payload,
    Counter* retries) {
  std::vector<std::shared_ptr<ParameterService>> servers;
  for (int server = 0; server < plan.ps.num_servers(); ++server) {
    ParameterClientOptions options;
    options.channel = ChannelOptionsFromFlags(flags, token, server);
    options.chunk_bytes =
        std::min<uint64_t>(options.chunk_bytes,
                           flags.limits.max_message_bytes - kMessageOverhead);
    options.payload = payload;
    SHOAL_RETURN_IF_ERROR(options.Validate());
    servers.push_back(std::make_shared<RetryingParameterService>(
        std::make_unique<ParameterClient>(std::move(options), loop, train),
        RetryOptions{}, flags.cluster.task_index, train, retries));
  }
  return servers;
}

}  // namespace shoal
