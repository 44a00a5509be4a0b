#ifndef SHOAL_CORE_REDUCTION_H_
#define SHOAL_CORE_REDUCTION_H_

#include <cstdint>

#include "core/choice.h"

namespace shoal {

// The order in which AllReduce adds the values of the ranks. Both orders give
// the same bits on all ranks and in every repeat. The numbers are written into
// messages (docs/wire_protocol.md) and never change their meaning.
enum class Reduction : uint8_t {
  // Reduce-scatter and allgather: each rank sends 2 (N - 1) / N of the bytes.
  // The values are cut into N segments. Segment s is added in the order of the
  // ranks s, s + 1, ..., N - 1, 0, ..., s - 1.
  kFast = 1,
  // A chain: ((x0 + x1) + x2) + ..., bit for bit what a serial loop over the
  // ranks gives. A rank sends at most 1.5 times the bytes of kFast.
  kRankOrder = 2,
};

// The values of --reduction.
inline constexpr Choice<Reduction> kReductions[] = {
    {Reduction::kFast, "fast", "adds up a part of it on each worker"},
    {Reduction::kRankOrder, "rank_order",
     "adds in the order of the workers, with the bits of a serial loop, and "
     "sends up to 1.5 times the bytes"}};

}  // namespace shoal

#endif  // SHOAL_CORE_REDUCTION_H_
