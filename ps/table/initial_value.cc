#include "ps/table/initial_value.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/philox.h"
#include "base/stable_hash.h"

namespace shoal {
namespace {

// Three in five candidates are accepted, so no element comes near this.
constexpr uint64_t kAttemptsMax = 1000;

// Words of (attempt, block), where block may be above 2^64.
Philox::Block Words(const Philox& philox, uint64_t attempt,
                    absl::uint128 block) {
  return philox(attempt + (absl::Uint128High64(block) << 32),
                absl::Uint128Low64(block));
}

float TruncatedNormal(const Philox& philox, absl::uint128 element) {
  const size_t word = 2 * (absl::Uint128Low64(element) % 2);
  for (uint64_t attempt = 0; attempt < kAttemptsMax; ++attempt) {
    const Philox::Block block = Words(philox, attempt, element >> 1);
    const float z = 4 * UniformFloat(block[word]) - 2;
    const double density = std::exp(-0.5 * double{z} * double{z});
    if (block[word + 1] + 0.5 < 0x1p32 * density) return z;
  }
  return 0;
}

}  // namespace

uint64_t InitialValueKey(uint64_t seed, absl::string_view variable) {
  return StableHashCombine(seed, StableHash(variable));
}

void FillInitialValues(const InitializerSpec& spec, uint64_t key,
                       absl::uint128 first, absl::Span<float> out) {
  const Philox philox(key);
  switch (spec.kind) {
    case InitializerKind::kZeros:
      std::fill(out.begin(), out.end(), 0.0f);
      return;
    case InitializerKind::kUniform:
      for (size_t i = 0; i < out.size(); ++i) {
        const absl::uint128 element = first + i;
        const Philox::Block block = Words(philox, 0, element >> 2);
        const size_t word = absl::Uint128Low64(element) % 4;
        out[i] = spec.scale * (2 * UniformFloat(block[word]) - 1);
      }
      return;
    case InitializerKind::kTruncatedNormal:
      for (size_t i = 0; i < out.size(); ++i) {
        out[i] = spec.scale * TruncatedNormal(philox, first + i);
      }
      return;
  }
}

}  // namespace shoal
