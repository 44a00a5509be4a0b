#ifndef SHOAL_WIRE_CODEC_PULL_PLAN_H_
#define SHOAL_WIRE_CODEC_PULL_PLAN_H_

#include <cstdint>
#include <vector>

#include "core/parameter_service.h"

namespace shoal {

// Splits a pull into smaller pulls, so that each request and each reply has at
// most about `max_bytes` bytes of ids and values. (A single row may have more.)
// Tables are split by ranges of their ids, and blocks by ranges of their
// elements, in order. The spans of the result lie in those of `request`. A pull
// that fits is returned as the only one.
std::vector<PullRequest> PlanPulls(const PullRequest& request,
                                   uint64_t max_bytes);

}  // namespace shoal

#endif  // SHOAL_WIRE_CODEC_PULL_PLAN_H_
