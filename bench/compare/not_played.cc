#include "bench/compare/not_played.h"

#include <algorithm>

namespace shoal {

std::vector<std::string> NotPlayed(const std::string& where,
                                   const std::vector<Cell>& cells) {
  if (where == "hosts") {
    return {
        "neighbours: other programs on these hosts are not watched, so a "
        "cell that they slow down is not left out",
        "rates of links and numbers of cores: these hosts have their own; "
        "what --networks and --cores say of them is only for what is "
        "predicted"};
  }
  if (where == "loopback") {
    return {
        "networks: all processes run on this machine over loopback, and "
        "share its cores, so the figures tell nothing of networks"};
  }
  std::vector<std::string> all = {
      "latency: that of the virtual links, some tens of microseconds divided "
      "by the dilation, and no other is added",
      "oversubscribed switches: the bridge between the hosts has no limit",
      "neighbours on the hosts and on the network",
      "caches, memory bandwidth and hardware threads of hosts of their own: "
      "all hosts share those of this machine",
      "network cards: the kernel does their work, in the hosts' processor "
      "time"};
  const auto any = [&cells](auto what) {
    return std::any_of(cells.begin(), cells.end(), what);
  };
  if (any([](const Cell& cell) { return cell.cores_per_host > 1; })) {
    all.push_back(
        "single cores of hosts with several: a computation takes as long as on "
        "one core, but what other threads do may have the processor time of "
        "all cores of the host");
  }
  if (any([](const Cell& cell) { return cell.replayed(); })) {
    all.push_back(
        "caches that a computation takes from what else is done on its core: "
        "replayed workers only keep the core busy");
  }
  return all;
}

}  // namespace shoal
