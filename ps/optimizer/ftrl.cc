#include "ps/optimizer/ftrl.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/check.h"

namespace shoal {

void FtrlApply(const OptimizerSpec& spec, float rate,
               absl::Span<const float> gradient, absl::Span<float> weights,
               absl::Span<float> accumulator, absl::Span<float> linear) {
  SHOAL_DCHECK(gradient.size() == weights.size());
  SHOAL_DCHECK(accumulator.size() == weights.size());
  SHOAL_DCHECK(linear.size() == weights.size());
  const float l2 = spec.l2;
  const float l1 = spec.ftrl_l1;
  const float proximal = 2 * spec.ftrl_l2;
  const float* __restrict g = gradient.data();
  float* __restrict w = weights.data();
  float* __restrict a = accumulator.data();
  float* __restrict z = linear.data();
  const size_t n = weights.size();
  for (size_t i = 0; i < n; ++i) {
    const float d = g[i] + l2 * w[i];
    const float square = d * d;
    const float sum = a[i] + square;
    const float root = std::sqrt(sum);
    const float grown = square / (root + std::sqrt(a[i]));
    const float lin = z[i] + d - grown / rate * w[i];
    a[i] = sum;
    z[i] = lin;
    const float clamped = std::min(std::max(lin, -l1), l1);
    w[i] = (clamped - lin) / (root / rate + proximal);
  }
}

}  // namespace shoal
