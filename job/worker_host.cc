#include "job/worker_host.h"

#include <algorithm>
#include <cstddef>
#include <vector>

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

}  // namespace

std::string WorkerHost(const ClusterFlags& cluster) {
  const std::vector<std::string> hosts = Hosts(cluster);
  const auto index = static_cast<size_t>(cluster.task_index);
  if (index >= hosts.size() || hosts[index].empty() ||
      IsLoopbackHost(hosts[index])) {
    return MachineName();
  }
  return hosts[index];
}

int WorkersOnHost(const ClusterFlags& cluster) {
  const std::vector<std::string> hosts = Hosts(cluster);
  const auto index = static_cast<size_t>(cluster.task_index);
  if (index >= hosts.size()) {
    return cluster.launched.has_value() &&
                   cluster.launched->local_size.has_value()
               ? cluster.launched->local_size->value
               : 1;
  }
  return static_cast<int>(
      std::count(hosts.begin(), hosts.end(), hosts[index]));
}

}  // namespace shoal
