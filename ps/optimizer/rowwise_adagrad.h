#ifndef SHOAL_PS_OPTIMIZER_ROWWISE_ADAGRAD_H_
#define SHOAL_PS_OPTIMIZER_ROWWISE_ADAGRAD_H_

#include "absl/types/span.h"
#include "core/optimizer_spec.h"

namespace shoal {

// Adagrad with one accumulator for all weights of a row, as FBGEMM's
// EXACT_ROWWISE_ADAGRAD and TorchRec's RowWiseAdagrad keep it, with Adagrad's
// initial accumulator in the place of their epsilon:
//   g += l2 * w
//   accumulator += (g . g) / dim
//   w -= rate * g / sqrt(accumulator)
// A table takes a 2 dim-th of Adam's slots; at dim 1 it is Adagrad. For rows of
// tables alone: of a dense variable there is no such row (ModelSpec::Validate).
//
// `rate` is LearningRateAt the push (learning_rate.h). One slot a row, which
// starts at spec.adagrad_initial_accumulator (> 0). The squares are summed in a
// fixed order. Pure; REQUIRES: gradient and weights of one length, not empty,
// not overlapping.
void RowwiseAdagradApply(const OptimizerSpec& spec, float rate,
                         absl::Span<const float> gradient,
                         absl::Span<float> weights, float* accumulator);

}  // namespace shoal

#endif  // SHOAL_PS_OPTIMIZER_ROWWISE_ADAGRAD_H_
