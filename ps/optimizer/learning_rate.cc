#include "ps/optimizer/learning_rate.h"

namespace shoal {

double LearningRateAt(const OptimizerSpec& spec, uint64_t t) {
  const double rate = spec.learning_rate;
  if (t >= spec.warmup_batches) return rate;
  return rate * static_cast<double>(t) /
         static_cast<double>(spec.warmup_batches);
}

}  // namespace shoal
