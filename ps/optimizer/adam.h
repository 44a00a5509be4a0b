#ifndef SHOAL_PS_OPTIMIZER_ADAM_H_
#define SHOAL_PS_OPTIMIZER_ADAM_H_

#include <cstdint>

#include "absl/types/span.h"
#include "core/optimizer_spec.h"

namespace shoal {

// Adam (Kingma, Ba, ICLR 2015) in the form of its section 2's last remark,
// which is TensorFlow's ApplyAdam:
//   g += l2 * w
//   m = beta1 * m + (1 - beta1) * g
//   v = beta2 * v + (1 - beta2) * g * g
//   w -= rate(t) * m / (sqrt(v) + epsilon)
// Each weight has two slots, m and v, which start at 0. Rows are lazy: a row
// that no push touches keeps its m and v and does not move, while t goes on.

// Returns
//   rate(t) = LearningRateAt(spec, t) * sqrt(1 - beta2^t) / (1 - beta1^t)
// computed in double (learning_rate.h). t >= 1 is the number of this push among
// the pushes that the shard admitted.
float AdamRate(const OptimizerSpec& spec, uint64_t t);

// One update with `rate` = AdamRate(spec, t). This plain loop is the oracle of
// the faster form (vector_update.h). Pure; REQUIRES: spans of one length, not
// overlapping.
void AdamApply(const OptimizerSpec& spec, float rate,
               absl::Span<const float> gradient, absl::Span<float> weights,
               absl::Span<float> m, absl::Span<float> v);

}  // namespace shoal

#endif  // SHOAL_PS_OPTIMIZER_ADAM_H_
