#ifndef SHOAL_BASE_SATURATING_H_
#define SHOAL_BASE_SATURATING_H_

#include <cstdint>
#include <limits>

namespace shoal {

// Sums and products of sizes that come from flags. A result that does not fit
// becomes the largest number.

inline uint64_t SaturatingAdd(uint64_t a, uint64_t b) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  return a > kMost - b ? kMost : a + b;
}

inline uint64_t SaturatingTimes(uint64_t a, uint64_t b) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  return a != 0 && b > kMost / a ? kMost : a * b;
}

}  // namespace shoal

#endif  // SHOAL_BASE_SATURATING_H_
