#ifndef SHOAL_WIRE_CODEC_PULL_PLAN_H_
#define SHOAL_WIRE_CODEC_PULL_PLAN_H_

#include <cstdint>
#include <vector>

#include "core/parameter_service.h"

namespace shoal {

// Cuts a pull into pulls whose requests and replies hold at most about
// `max_bytes` of ids and values each (a single row may exceed it): tables by
// ranges of their ids, blocks by ranges of their elements, everything in order.
// The parts' spans lie in those of `request`. A pull that fits is one part.
std::vector<PullRequest> PlanPulls(const PullRequest& request,
                                   uint64_t max_bytes);

}  // namespace shoal

#endif  // SHOAL_WIRE_CODEC_PULL_PLAN_H_
