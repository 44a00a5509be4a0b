#include "ps/optimizer/rowwise_adagrad.h"

#include <cmath>
#include <cstddef>

#include "base/check.h"

namespace shoal {
namespace {

// The number of parallel partial sums, which a compiler keeps in one vector
// register.
constexpr size_t kLanes = 8;

// The sum of (g + l2 * w)^2.
float SumOfSquares(const float* __restrict g, const float* __restrict w,
                   float l2, size_t n) {
  float lanes[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const float d = g[i + lane] + l2 * w[i + lane];
      lanes[lane] += d * d;
    }
  }
  float sum = 0;
  for (; i < n; ++i) {
    const float d = g[i] + l2 * w[i];
    sum += d * d;
  }
  for (const float lane : lanes) sum += lane;
  return sum;
}

}  // namespace

void RowwiseAdagradApply(const OptimizerSpec& spec, float rate,
                         absl::Span<const float> gradient,
                         absl::Span<float> weights, float* accumulator) {
  SHOAL_DCHECK(gradient.size() == weights.size() && !weights.empty());
  const float l2 = spec.l2;
  const float* __restrict g = gradient.data();
  float* __restrict w = weights.data();
  const size_t n = weights.size();
  *accumulator += SumOfSquares(g, w, l2, n) / static_cast<float>(n);
  const float scale = rate / std::sqrt(*accumulator);
  for (size_t i = 0; i < n; ++i) {
    w[i] -= scale * (g[i] + l2 * w[i]);
  }
}

}  // namespace shoal
