#include "ps/optimizer/adagrad.h"

#include <cmath>
#include <cstddef>

#include "base/check.h"

namespace shoal {

void AdagradApply(const OptimizerSpec& spec, float rate,
                  absl::Span<const float> gradient, absl::Span<float> weights,
                  absl::Span<float> accumulator) {
  SHOAL_DCHECK(gradient.size() == weights.size());
  SHOAL_DCHECK(accumulator.size() == weights.size());
  const float l2 = spec.l2;
  const float* __restrict g = gradient.data();
  float* __restrict w = weights.data();
  float* __restrict a = accumulator.data();
  const size_t n = weights.size();
  for (size_t i = 0; i < n; ++i) {
    const float d = g[i] + l2 * w[i];
    const float sum = a[i] + d * d;
    a[i] = sum;
    w[i] -= rate * d / std::sqrt(sum);
  }
}

}  // namespace shoal
