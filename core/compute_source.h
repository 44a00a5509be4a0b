#ifndef SHOAL_CORE_COMPUTE_SOURCE_H_
#define SHOAL_CORE_COMPUTE_SOURCE_H_

#include "core/choice.h"

namespace shoal {

// What a worker does where the model is computed. kReal: it computes. kReplay:
// it waits for the times that a real run took, so that a machine with few cores
// can play many workers. kBusy: it keeps its core busy for these times, so that
// it leaves as little of its host to others as a real one. In both, scores and
// gradients mean nothing.
enum class ComputeSource { kReal, kReplay, kBusy };

// The values of --compute.
inline constexpr Choice<ComputeSource> kComputeSources[] = {
    {ComputeSource::kReal, "real", "computes the model"},
    {ComputeSource::kReplay, "replay",
     "only waits for the times of --compute_profile, and learns nothing"},
    {ComputeSource::kBusy, "busy",
     "keeps its core busy for these times in place of waiting"}};

}  // namespace shoal

#endif  // SHOAL_CORE_COMPUTE_SOURCE_H_
