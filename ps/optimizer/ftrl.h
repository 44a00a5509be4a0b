#ifndef SHOAL_PS_OPTIMIZER_FTRL_H_
#define SHOAL_PS_OPTIMIZER_FTRL_H_

#include "absl/types/span.h"
#include "core/optimizer_spec.h"

namespace shoal {

// FTRL-proximal (McMahan et al., "Ad Click Prediction: a View from the
// Trenches", KDD 2013, algorithm 1: n, z, alpha = rate, beta = 0, and half of
// lambda2) as TensorFlow's ApplyFtrl computes it with learning_rate_power -0.5:
//   g += l2 * w
//   sum = accumulator + g * g
//   linear += g - (sqrt(sum) - sqrt(accumulator)) / rate * w
//   w = (clamp(linear, -ftrl_l1, ftrl_l1) - linear)
//       / (sqrt(sum) / rate + 2 * ftrl_l2)
//   accumulator = sum
// The difference of the roots is computed as
//   g * g / (sqrt(sum) + sqrt(accumulator))
// which loses no digits if the accumulator is large.
//
// After its first update a weight is a function of its slots only: its initial
// value counts only through `linear`, and a zero gradient moves the weight too.
// For the same reason a rate that changes (warm-up) also scales the effect of
// earlier pushes, as it does in TensorFlow. ftrl_l2 is the proximal term of the
// paper; l2 is the term that every optimizer adds to the gradient.
//
// `rate` is LearningRateAt the push (learning_rate.h). Each weight has two
// slots: the accumulator (n), which starts at spec.ftrl_initial_accumulator,
// above 0, and linear (z), which starts at 0. Pure; REQUIRES: spans of one
// length, not overlapping.
void FtrlApply(const OptimizerSpec& spec, float rate,
               absl::Span<const float> gradient, absl::Span<float> weights,
               absl::Span<float> accumulator, absl::Span<float> linear);

}  // namespace shoal

#endif  // SHOAL_PS_OPTIMIZER_FTRL_H_
