#include "ps/optimizer/vector_update.h"

#include <cstddef>

#include "base/check.h"

// The rest of this file is compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ps/optimizer/vector_update.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// Highway's order: the headers that are compiled with this file come last.
#include "base/vector_runs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

void Adam(const OptimizerSpec& spec, float rate,
          absl::Span<const float> gradient, absl::Span<float> weights,
          absl::Span<float> m, absl::Span<float> v) {
  const float* HWY_RESTRICT g = gradient.data();
  float* HWY_RESTRICT w = weights.data();
  float* HWY_RESTRICT mm = m.data();
  float* HWY_RESTRICT vv = v.data();
  const OptimizerSpec s = spec;  // a copy that no store to the spans can change
  ForEachRun<1>(weights.size(), [&](auto d, auto, size_t i) HWY_ATTR {
    const auto beta1 = hn::Set(d, s.adam_beta1);
    const auto beta2 = hn::Set(d, s.adam_beta2);
    const auto rest1 = hn::Set(d, 1 - s.adam_beta1);
    const auto rest2 = hn::Set(d, 1 - s.adam_beta2);
    const auto weight = hn::LoadU(d, w + i);
    const auto grad =
        hn::Add(hn::LoadU(d, g + i), hn::Mul(hn::Set(d, s.l2), weight));
    const auto first =
        hn::Add(hn::Mul(beta1, hn::LoadU(d, mm + i)), hn::Mul(rest1, grad));
    const auto second = hn::Add(hn::Mul(beta2, hn::LoadU(d, vv + i)),
                                hn::Mul(hn::Mul(rest2, grad), grad));
    hn::StoreU(first, d, mm + i);
    hn::StoreU(second, d, vv + i);
    const auto step =
        hn::Div(hn::Mul(hn::Set(d, rate), first),
                hn::Add(hn::Sqrt(second), hn::Set(d, s.adam_epsilon)));
    hn::StoreU(hn::Sub(weight, step), d, w + i);
  });
}

void Adagrad(const OptimizerSpec& spec, float rate,
             absl::Span<const float> gradient, absl::Span<float> weights,
             absl::Span<float> accumulator) {
  const float* HWY_RESTRICT g = gradient.data();
  float* HWY_RESTRICT w = weights.data();
  float* HWY_RESTRICT a = accumulator.data();
  const float l2 = spec.l2;
  ForEachRun<1>(weights.size(), [&](auto d, auto, size_t i) HWY_ATTR {
    const auto weight = hn::LoadU(d, w + i);
    const auto grad =
        hn::Add(hn::LoadU(d, g + i), hn::Mul(hn::Set(d, l2), weight));
    const auto sum = hn::Add(hn::LoadU(d, a + i), hn::Mul(grad, grad));
    hn::StoreU(sum, d, a + i);
    const auto step = hn::Div(hn::Mul(hn::Set(d, rate), grad), hn::Sqrt(sum));
    hn::StoreU(hn::Sub(weight, step), d, w + i);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace shoal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal {

HWY_EXPORT(Adam);
HWY_EXPORT(Adagrad);

void VectorAdam(const OptimizerSpec& spec, float rate,
                absl::Span<const float> gradient, absl::Span<float> weights,
                absl::Span<float> m, absl::Span<float> v) {
  SHOAL_DCHECK(gradient.size() == weights.size());
  SHOAL_DCHECK(m.size() == weights.size() && v.size() == weights.size());
  HWY_DYNAMIC_DISPATCH(Adam)(spec, rate, gradient, weights, m, v);
}

void VectorAdagrad(const OptimizerSpec& spec, float rate,
                   absl::Span<const float> gradient, absl::Span<float> weights,
                   absl::Span<float> accumulator) {
  SHOAL_DCHECK(gradient.size() == weights.size());
  SHOAL_DCHECK(accumulator.size() == weights.size());
  HWY_DYNAMIC_DISPATCH(Adagrad)(spec, rate, gradient, weights, accumulator);
}

}  // namespace shoal
#endif  // HWY_ONCE
