#ifndef SHOAL_BASE_PROTOBUF_WIRE_H_
#define SHOAL_BASE_PROTOBUF_WIRE_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace shoal {

// Protobuf's wire types, and the part of its encoding that is needed to write
// TensorBoard events and tf.Example by hand. A field is a tag, number << 3 |
// wire type, and a value. A number is a varint: seven bits in each byte, the
// low bits first. https://protobuf.dev/programming-guides/encoding

enum class WireType : uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,  // a length, and then that number of bytes
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5,
};

constexpr size_t VarintBytes(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
}

inline void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) {
    out->push_back(static_cast<char>(value | 0x80));
  }
  out->push_back(static_cast<char>(value));
}

inline void AppendTag(uint32_t field, WireType type, std::string* out) {
  AppendVarint(uint64_t{field} << 3 | static_cast<uint8_t>(type), out);
}

// Appends the head of a field of `bytes` bytes: a text, a message, packed
// values.
inline void AppendFieldHead(uint32_t field, size_t bytes, std::string* out) {
  AppendTag(field, WireType::kBytes, out);
  AppendVarint(bytes, out);
}

inline void AppendField(uint32_t field, absl::string_view bytes,
                        std::string* out) {
  AppendFieldHead(field, bytes.size(), out);
  out->append(bytes.data(), bytes.size());
}

// Size of a length-delimited field with its head. REQUIRES: the field's number
// is below 16.
constexpr size_t FieldBytes(size_t bytes) {
  return 1 + VarintBytes(bytes) + bytes;
}

}  // namespace shoal

#endif  // SHOAL_BASE_PROTOBUF_WIRE_H_
