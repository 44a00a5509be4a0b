#include "ps/optimizer/adam.h"

#include <cmath>
#include <cstddef>

#include "base/check.h"
#include "ps/optimizer/learning_rate.h"

namespace shoal {

float AdamRate(const OptimizerSpec& spec, uint64_t t) {
  const double n = static_cast<double>(t);
  const double bias1 = 1 - std::pow(double{spec.adam_beta1}, n);
  const double bias2 = 1 - std::pow(double{spec.adam_beta2}, n);
  return static_cast<float>(LearningRateAt(spec, t) * std::sqrt(bias2) / bias1);
}

void AdamApply(const OptimizerSpec& spec, float rate,
               absl::Span<const float> gradient, absl::Span<float> weights,
               absl::Span<float> m, absl::Span<float> v) {
  SHOAL_DCHECK(gradient.size() == weights.size());
  SHOAL_DCHECK(m.size() == weights.size() && v.size() == weights.size());
  const float beta1 = spec.adam_beta1;
  const float beta2 = spec.adam_beta2;
  const float epsilon = spec.adam_epsilon;
  const float l2 = spec.l2;
  const float* __restrict g = gradient.data();
  float* __restrict w = weights.data();
  float* __restrict mm = m.data();
  float* __restrict vv = v.data();
  const size_t n = weights.size();
  for (size_t i = 0; i < n; ++i) {
    const float d = g[i] + l2 * w[i];
    const float first = beta1 * mm[i] + (1 - beta1) * d;
    const float second = beta2 * vv[i] + (1 - beta2) * d * d;
    mm[i] = first;
    vv[i] = second;
    w[i] -= rate * first / (std::sqrt(second) + epsilon);
  }
}

}  // namespace shoal
