#ifndef SHOAL_COORDINATOR_LANE_RANKS_H_
#define SHOAL_COORDINATOR_LANE_RANKS_H_

#include <vector>

#include "cluster/lane_table.h"
#include "cluster/membership.h"

namespace shoal {

// The ranks of the present generation of a job of a synchronous mode: all
// workers that have an open session, in the order of their indexes. Hosts count
// only if training files belong to hosts.
std::vector<LaneRank> LaneRanksOf(const Membership& membership);

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_LANE_RANKS_H_
