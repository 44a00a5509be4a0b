#ifndef SHOAL_PS_OPTIMIZER_LEARNING_RATE_H_
#define SHOAL_PS_OPTIMIZER_LEARNING_RATE_H_

#include <cstdint>

#include "core/optimizer_spec.h"

namespace shoal {

// The schedule of a variable's learning rate: constant, or linear warm-up
// (Goyal et al., "Accurate, Large Minibatch SGD", 2017, section 2.2):
//   learning_rate * min(1, t / warmup_batches)
// t >= 1 is the number of this push among the pushes that the shard admitted.
// Each shard counts by itself; every batch is pushed to every shard, so all
// shards count alike. Without a warm-up, and from its end on, the result is
// exactly spec.learning_rate. Pure.
double LearningRateAt(const OptimizerSpec& spec, uint64_t t);

}  // namespace shoal

#endif  // SHOAL_PS_OPTIMIZER_LEARNING_RATE_H_
