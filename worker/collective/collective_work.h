#ifndef SHOAL_WORKER_COLLECTIVE_COLLECTIVE_WORK_H_
#define SHOAL_WORKER_COLLECTIVE_COLLECTIVE_WORK_H_

#include "absl/types/span.h"
#include "core/gathered_parts.h"
#include "core/reduction.h"

namespace shoal {

// The work of a Collective whose ranks share memory. The arguments have one
// entry for each rank, in the order of the ranks. Thread-compatible.

// Sums the ranks' values in the order of SumOrder (core/ring_schedule.h), and
// gives the sums to all ranks. REQUIRES: the spans have the same length and do
// not overlap.
void SumRanks(Reduction reduction, absl::Span<const absl::Span<float>> values);

// Copies the bytes of each rank to the parts of all other ranks. A rank's own
// part refers to its own bytes.
void GatherRanks(absl::Span<const absl::Span<const char>> bytes,
                 absl::Span<GatheredParts* const> parts);

// Copies the bytes of rank `root` to all other ranks. REQUIRES: the spans have
// the same length; 0 <= root < bytes.size().
void BroadcastRanks(int root, absl::Span<const absl::Span<char>> bytes);

}  // namespace shoal

#endif  // SHOAL_WORKER_COLLECTIVE_COLLECTIVE_WORK_H_
