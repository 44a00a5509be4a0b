#ifndef SHOAL_CORE_SOUND_GRADIENT_H_
#define SHOAL_CORE_SOUND_GRADIENT_H_

#include <bit>
#include <cstdint>

#include "absl/types/span.h"

namespace shoal {

// The largest size of an element of a gradient that is applied. Optimizers sum
// squares in float32: 10^8 of this one's still make a number, while one square
// beyond 1.8e19 makes an infinity, and a row that never moves again or is NaN.
inline constexpr float kLargestGradient = 1e15f;

// Whether every element is a number, and none is larger. Reads all of them:
// without an early end the loop is vectorised.
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
