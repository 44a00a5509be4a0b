#include "coordinator/lane_ranks.h"

#include "base/check.h"

namespace shoal {

std::vector<LaneRank> LaneRanksOf(const Membership& membership) {
  const JobFiles& files = membership.files();
  const bool by_host = !files.train().hosts.empty();
  std::vector<LaneRank> ranks;
  for (const Member& worker : membership.Open(Role::kWorker)) {
    SHOAL_DCHECK(worker.index == static_cast<int>(ranks.size()));
    ranks.push_back({worker.life, by_host ? files.HostOf(worker.index) : 0});
  }
  return ranks;
}

}  // namespace shoal
