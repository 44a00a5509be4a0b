#include "ps/optimizer/sgd.h"

#include <cstddef>

#include "base/check.h"

namespace shoal {

void SgdApply(const OptimizerSpec& spec, float rate,
              absl::Span<const float> gradient, absl::Span<float> weights) {
  SHOAL_DCHECK(gradient.size() == weights.size());
  const float l2 = spec.l2;
  const float* __restrict g = gradient.data();
  float* __restrict w = weights.data();
  const size_t n = weights.size();
  for (size_t i = 0; i < n; ++i) {
    w[i] -= rate * (g[i] + l2 * w[i]);
  }
}

}  // namespace shoal
