#ifndef SHOAL_PS_OPTIMIZER_SGD_H_
#define SHOAL_PS_OPTIMIZER_SGD_H_

#include "absl/types/span.h"
#include "core/optimizer_spec.h"

namespace shoal {

// Stochastic gradient descent (Robbins, Monro 1951), without momentum:
//   g += l2 * w
//   w -= rate * g
// `rate` is LearningRateAt the push (learning_rate.h). No slots. Pure;
// REQUIRES: gradient and weights of one length, not overlapping.
void SgdApply(const OptimizerSpec& spec, float rate,
              absl::Span<const float> gradient, absl::Span<float> weights);

}  // namespace shoal

#endif  // SHOAL_PS_OPTIMIZER_SGD_H_
