#include "ps/table/initial_value.h"

#include <algorithm>
#include <cstddef>

#include "base/philox.h"
#include "base/stable_hash.h"
#include "ps/table/truncated_normal.h"

namespace shoal {
namespace {

// The words of a block whose number may be above 2^64.
Philox::Block Words(const Philox& philox, absl::uint128 block) {
  return philox(absl::Uint128High64(block) << 32, absl::Uint128Low64(block));
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
    case InitializerKind::kUniform: {
      Philox::Block block = {};  // shared by four neighbours
      for (size_t i = 0; i < out.size(); ++i) {
        const absl::uint128 element = first + i;
        const size_t word = absl::Uint128Low64(element) % 4;
        if (i == 0 || word == 0) block = Words(philox, element >> 2);
        out[i] = spec.scale * (2 * UniformFloat(block[word]) - 1);
      }
      return;
    }
    case InitializerKind::kTruncatedNormal:
      FillTruncatedNormal(philox, first, out);
      for (float& value : out) value *= spec.scale;
      return;
  }
}

}  // namespace shoal
