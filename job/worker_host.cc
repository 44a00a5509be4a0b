#include "job/worker_host.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "base/machine_name.h"
#include "launch/host_list.h"

namespace shoal {
namespace {

// The hosts of all workers, in order; empty without --worker_hosts.
std::vector<std::string> Hosts(const ClusterFlags& cluster) {
  std::vector<std::string> hosts;
  if (cluster.worker_hosts.empty()) return hosts;
  for (absl::string_view entry : absl::StrSplit(cluster.worker_hosts, ',')) {
    hosts.push_back(HostOfEntry(entry));
  }
  return hosts;
}

bool IsLoopback(const std::string& host) {
  return host == "localhost" || host == "::1" ||
         absl::StartsWith(host, "127.");
}

}  // namespace

std::string WorkerHost(const ClusterFlags& cluster) {
  const std::vector<std::string> hosts = Hosts(cluster);
  const auto index = static_cast<size_t>(cluster.task_index);
  if (index >= hosts.size() || hosts[index].empty() ||
      IsLoopback(hosts[index])) {
    return MachineName();
  }
  return hosts[index];
}

int WorkersOnHost(const ClusterFlags& cluster) {
  const std::vector<std::string> hosts = Hosts(cluster);
  const auto index = static_cast<size_t>(cluster.task_index);
  if (index >= hosts.size()) return 1;
  return static_cast<int>(
      std::count(hosts.begin(), hosts.end(), hosts[index]));
}

}  // namespace shoal
