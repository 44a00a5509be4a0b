// For files that Highway compiles once for each instruction set, which include
// this after "hwy/highway.h".

#if defined(SHOAL_BASE_VECTOR_RUNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SHOAL_BASE_VECTOR_RUNS_INL_H_
#undef SHOAL_BASE_VECTOR_RUNS_INL_H_
#else
#define SHOAL_BASE_VECTOR_RUNS_INL_H_
#endif

#include <cstddef>
#include <type_traits>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace shoal {
namespace HWY_NAMESPACE {

// Splits [i, n) into runs and calls visit(d, vectors, i) for each run of
// vectors() · Lanes(d) floats, in order. The runs have kVectors whole vectors
// as long as possible, then half as many and so on, then four floats, then one
// float. `vectors` is an integral constant.
template <int kVectors, typename Visit>
HWY_INLINE void ForEachRun(size_t n, const Visit& visit, size_t i = 0) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const size_t run = kVectors * hn::Lanes(d);
  for (; i + run <= n; i += run) {
    visit(d, std::integral_constant<int, kVectors>(), i);
  }
  if constexpr (kVectors > 1) {
    ForEachRun<kVectors / 2>(n, visit, i);
  } else {
    const std::integral_constant<int, 1> vector;
    const hn::CappedTag<float, 4> four;
    for (; i + hn::Lanes(four) <= n; i += hn::Lanes(four)) {
      visit(four, vector, i);
    }
    const hn::CappedTag<float, 1> one;
    for (; i < n; ++i) visit(one, vector, i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace shoal
HWY_AFTER_NAMESPACE();

#endif  // SHOAL_BASE_VECTOR_RUNS_INL_H_
