#ifndef SHOAL_PS_OPTIMIZER_LEARNING_RATE_H_
#define SHOAL_PS_OPTIMIZER_LEARNING_RATE_H_

#include <cstdint>

#include "core/optimizer_spec.h"

namespace shoal {

// The schedule of a variable's learning rate: constant, or linear warm-up
// (Goyal et al., "Accurate, Large Minibatch SGD", 2017, section 2.2):
//   learning_rate * min(1, t / warmup_batches)
// t >= 1 is the number of this push among those the shard admitted, its own
// count: every batch is pushed to every shard, so all count alike. Without a
// warm-up, and from its end on, exactly spec.learning_rate. Pure.
double LearningRateAt(const OptimizerSpec& spec, uint64_t t);

}  // namespace shoal

#endif  // SHOAL_PS_OPTIMIZER_LEARNING_RATE_H_
