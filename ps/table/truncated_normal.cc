#include "ps/table/truncated_normal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace shoal {
namespace {

// The most attempts. Three in five candidates are accepted, so no element comes
// near this number.
constexpr uint64_t kAttemptsMax = 1000;

float CandidateOf(uint32_t u) { return 4 * UniformFloat(u) - 2; }

// Returns 2^32 exp(−z² / 2). The candidate is accepted if t + ½ is below it.
double Threshold(float z) {
  return 0x1p32 * std::exp(-0.5 * double{z} * double{z});
}

// Bounds of the threshold over all candidates whose word begins with the same
// kBits bits. With them nearly no decision needs an exponential: less than one
// candidate in 500 lies between the two bounds.
class Bounds {
 public:
  Bounds() {
    for (uint32_t i = 0; i < kBins; ++i) {
      const uint32_t first = i << (32 - kBits);
      const uint32_t last = first + ((1u << (32 - kBits)) - 1);
      // No bin spans 0, where the threshold turns. The margin of a millionth is
      // far larger than any rounding error of the exponential.
      const double a = Threshold(CandidateOf(first));
      const double b = Threshold(CandidateOf(last));
      bins_[i] = {static_cast<uint32_t>(std::min(a, b) * (1 - 1e-6) - 1),
                  static_cast<uint32_t>(
                      std::min(std::max(a, b) * (1 + 1e-6) + 1, 0x1p32 - 1))};
    }
  }

  bool Accepts(uint32_t u, uint32_t t) const {
    const Bin& bin = bins_[u >> (32 - kBits)];
    if (t < bin.always) return true;
    if (t > bin.never) return false;
    return t + 0.5 < Threshold(CandidateOf(u));
  }

 private:
  static constexpr int kBits = 11;
  static constexpr uint32_t kBins = 1u << kBits;
  struct Bin {
    uint32_t always;  // every t below this is accepted
    uint32_t never;   // no t above this is accepted
  };

  std::array<Bin, kBins> bins_;
};

Philox::Block Words(const Philox& philox, uint64_t attempt,
                    absl::uint128 element) {
  const absl::uint128 block = element >> 1;
  return philox(attempt + (absl::Uint128High64(block) << 32),
                absl::Uint128Low64(block));
}

size_t WordOf(absl::uint128 element) {
  return 2 * (absl::Uint128Low64(element) % 2);
}

}  // namespace

void FillTruncatedNormal(const Philox& philox, absl::uint128 first,
                         absl::Span<float> out) {
  static const Bounds bounds;
  Philox::Block shared = {};  // of the first attempt; neighbours share one
                              // block
  for (size_t j = 0; j < out.size(); ++j) {
    const absl::uint128 element = first + j;
    const size_t word = WordOf(element);
    if (j == 0 || word == 0) shared = Words(philox, 0, element);
    Philox::Block block = shared;
    uint64_t attempt = 0;
    while (!bounds.Accepts(block[word], block[word + 1]) &&
           ++attempt < kAttemptsMax) {
      block = Words(philox, attempt, element);
    }
    out[j] = attempt < kAttemptsMax ? CandidateOf(block[word]) : 0;
  }
}

}  // namespace shoal
