#ifndef SHOAL_CORE_SOUND_GRADIENT_H_
#define SHOAL_CORE_SOUND_GRADIENT_H_

#include <bit>
#include <cstdint>

#include "absl/types/span.h"

namespace shoal {

// The largest absolute value of a gradient element that is applied. Optimizers
// sum squares in float32. The sum of 10^8 squares of this value is still
// finite. The square of one value beyond 1.8e19 is infinite: the row would
// never move again, or become NaN.
inline constexpr float kLargestGradient = 1e15f;

// True if every element is a number of at most kLargestGradient in size. Reads
// all elements: without an early return the loop is vectorised.
inline bool IsSound(absl::Span<const float> gradient) {
  // Sizes compare as their bits do, with NaN and infinity above all others.
  constexpr uint32_t kLargest = std::bit_cast<uint32_t>(kLargestGradient);
  uint32_t bad = 0;
  for (const float value : gradient) {
    bad |= (std::bit_cast<uint32_t>(value) & 0x7fffffff) > kLargest;
  }
  return bad == 0;
}

}  // namespace shoal

#endif  // SHOAL_CORE_SOUND_GRADIENT_H_
