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
// The slots of a table take 1 / (2 dim) of Adam's. With dim 1 this is Adagrad.
// It is for rows of tables only: a dense variable has no rows
// (ModelSpec::Validate).
//
// `rate` is LearningRateAt the push (learning_rate.h). Each row has one slot,
// which starts at spec.adagrad_initial_accumulator (> 0). The squares are
// summed in a fixed order. Pure; REQUIRES: gradient and weights of one length,
// not empty, not overlapping.
void RowwiseAdagradApply(const OptimizerSpec& spec, float rate,
                         absl::Span<const float> gradient,
                         absl::Span<float> weights, float* accumulator);

}  // namespace shoal

#endif  // SHOAL_PS_OPTIMIZER_ROWWISE_ADAGRAD_H_
