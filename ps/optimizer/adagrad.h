#ifndef SHOAL_PS_OPTIMIZER_ADAGRAD_H_
#define SHOAL_PS_OPTIMIZER_ADAGRAD_H_

#include "absl/types/span.h"
#include "core/optimizer_spec.h"

namespace shoal {

// Adagrad (Duchi, Hazan, Singer, JMLR 12, 2011) as TensorFlow's ApplyAdagrad
// computes it, without an epsilon:
//   g += l2 * w
//   accumulator += g * g
//   w -= rate * g / sqrt(accumulator)
// `rate` is LearningRateAt the push (learning_rate.h). Each weight has one
// slot, which starts at spec.adagrad_initial_accumulator (> 0, so the root is
// never 0). This plain loop is the oracle of the faster form (vector_update.h).
// Pure; REQUIRES: spans of one length, not overlapping.
void AdagradApply(const OptimizerSpec& spec, float rate,
                  absl::Span<const float> gradient, absl::Span<float> weights,
                  absl::Span<float> accumulator);

}  // namespace shoal

#endif  // SHOAL_PS_OPTIMIZER_ADAGRAD_H_
