#ifndef SHOAL_BASE_RECORD_FRAMING_H_
#define SHOAL_BASE_RECORD_FRAMING_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "base/crc32c.h"

namespace shoal {

// The framing of TFRecord files, for data and for TensorBoard events:
//   u64 length | u32 masked CRC-32C of the 8 length bytes | payload |
//   u32 masked CRC-32C of the payload
// All little-endian; records follow each other without padding.

inline constexpr size_t kRecordHeaderBytes = 12;
inline constexpr size_t kRecordFooterBytes = 4;

// Appends `value` to *out, the low byte first.
template <typename T>
void AppendLittleEndian(T value, std::string* out) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    out->push_back(static_cast<char>(value >> (8 * i) & 0xff));
  }
}

// Appends one framed record to *out.
inline void AppendRecord(absl::string_view payload, std::string* out) {
  const size_t begin = out->size();
  AppendLittleEndian(static_cast<uint64_t>(payload.size()), out);
  const absl::string_view length = absl::string_view(*out).substr(begin, 8);
  AppendLittleEndian(MaskedCrc32c(Crc32c(length)), out);
  out->append(payload.data(), payload.size());
  AppendLittleEndian(MaskedCrc32c(Crc32c(payload)), out);
}

}  // namespace shoal

#endif  // SHOAL_BASE_RECORD_FRAMING_H_
