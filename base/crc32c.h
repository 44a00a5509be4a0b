#ifndef SHOAL_BASE_CRC32C_H_
#define SHOAL_BASE_CRC32C_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace shoal {

// CRC-32C (Castagnoli polynomial, RFC 3720 B.4) of `crc`'s bytes followed by
// `bytes`: Crc32cExtend(Crc32c(a), b) == Crc32c(a + b).
uint32_t Crc32cExtend(uint32_t crc, absl::string_view bytes);
inline uint32_t Crc32c(absl::string_view bytes) {
  return Crc32cExtend(0, bytes);
}

// TFRecord stores CRCs rotated and offset, so that a CRC over data which holds
// CRCs stays strong: ((crc >> 15) | (crc << 17)) + 0xa282ead8.
inline uint32_t MaskedCrc32c(uint32_t crc) {
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

}  // namespace shoal

#endif  // SHOAL_BASE_CRC32C_H_
