#include "coordinator/lane_ranks.h"

namespace shoal {

std::vector<LaneRank> LaneRanksOf(const Membership& membership) {
  const JobFiles& files = membership.files();
  const bool by_host = !files.train().hosts.empty();
  std::vector<LaneRank> ranks;
  for (const Member& worker : membership.Open(Role::kWorker)) {
    ranks.push_back({worker.life, by_host ? files.HostOf(worker.index) : 0});
  }
  return ranks;
}

}  // namespace shoal
