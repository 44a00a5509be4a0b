#ifndef SHOAL_BASE_ALL_FINITE_H_
#define SHOAL_BASE_ALL_FINITE_H_

#include <bit>
#include <cstdint>

#include "absl/types/span.h"

namespace shoal {

// Whether no value is a NaN or an infinity. Reads all of them: without an early
// end the loop is vectorised.
inline bool AllFinite(absl::Span<const float> values) {
  constexpr uint32_t kExponent = 0x7f800000;
  uint32_t bad = 0;
  for (const float value : values) {
    bad |= (std::bit_cast<uint32_t>(value) & kExponent) == kExponent;
  }
  return bad == 0;
}

}  // namespace shoal

#endif  // SHOAL_BASE_ALL_FINITE_H_
