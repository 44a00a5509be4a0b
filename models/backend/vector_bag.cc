#include "models/backend/vector_bag.h"

#include <cstddef>
#include <cstdint>

// The rest of this file is compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/backend/vector_bag.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// Highway's order: the headers that are compiled with this file come last.
#include "base/vector_runs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Registers that hold sums: half of all, so that the compiler has the other
// half for rows.
#if HWY_TARGET <= HWY_AVX3
constexpr int kSums = 16;
#else
constexpr int kSums = 8;
#endif

// No row is prefetched: many rows lie in the cache, and the others are longer
// than a cache line, so that the processor's own prefetcher finds them.
void BagSum(const BagInput& bags, absl::Span<const float> rows,
            absl::Span<float> sums) {
  const size_t dim = bags.dim;
  const int32_t* HWY_RESTRICT index = bags.index.data();
  const float* HWY_RESTRICT factors = bags.factors.data();
  for (size_t s = 0; s + 1 < bags.begin.size(); ++s) {
    const int32_t begin = bags.begin[s];
    const int32_t end = bags.begin[s + 1];
    float* HWY_RESTRICT out = sums.data() + s * dim;
    ForEachRun<kSums>(dim, [&](auto d, auto vectors, size_t n) HWY_ATTR {
      const size_t lanes = hn::Lanes(d);
      hn::Vec<decltype(d)> sum[vectors()];
      for (int v = 0; v < vectors(); ++v) sum[v] = hn::Zero(d);
      for (int32_t i = begin; i < end; ++i) {
        if (HWY_UNLIKELY(index[i] < 0)) continue;
        const auto factor = hn::Set(d, factors[i]);
        const float* HWY_RESTRICT row = rows.data() + index[i] * dim + n;
        for (int v = 0; v < vectors(); ++v) {
          sum[v] = hn::MulAdd(factor, hn::LoadU(d, row + v * lanes), sum[v]);
        }
      }
      for (int v = 0; v < vectors(); ++v) {
        hn::StoreU(sum[v], d, out + n + v * lanes);
      }
    });
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace shoal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal {

HWY_EXPORT(BagSum);

void VectorBagSum(const BagInput& bags, absl::Span<const float> rows,
                  absl::Span<float> sums) {
  HWY_DYNAMIC_DISPATCH(BagSum)(bags, rows, sums);
}

}  // namespace shoal
#endif  // HWY_ONCE
