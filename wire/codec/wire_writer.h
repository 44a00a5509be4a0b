#ifndef SHOAL_WIRE_CODEC_WIRE_WRITER_H_
#define SHOAL_WIRE_CODEC_WIRE_WRITER_H_

#include <cstdint>
#include <cstring>

#include "absl/strings/string_view.h"
#include "base/protobuf_wire.h"

namespace shoal {

// As FieldBytes (base/protobuf_wire.h), but 0 for an empty field, because
// proto3 leaves it out.
constexpr uint64_t FieldBytesOrNone(uint64_t size) {
  return size == 0 ? 0 : FieldBytes(size);
}
// Bytes of a varint field, tag and all; 0 for the value 0, because proto3
// leaves it out. REQUIRES: the field's number is below 16.
constexpr uint64_t VarintFieldBytes(uint64_t value) {
  return value == 0 ? 0 : 1 + VarintBytes(value);
}

// Writes protobuf's wire format into memory. The caller computes the size of
// the memory with the functions above and FieldBytes. REQUIRES: field numbers
// are below 16, so that a tag is one byte. Thread-compatible.
class WireWriter {
 public:
  explicit WireWriter(char* out) : out_(out) {}

  char* position() const { return out_; }

  void Varint(uint64_t value) {
    while (value >= 0x80) {
      *out_++ = static_cast<char>(value | 0x80);
      value >>= 7;
    }
    *out_++ = static_cast<char>(value);
  }
  // Writes nothing for the value 0.
  void VarintField(uint32_t number, uint64_t value) {
    if (value == 0) return;
    *out_++ = static_cast<char>(number << 3);
    Varint(value);
  }
  void Fixed32Field(uint32_t number, uint32_t value) {
    if (value == 0) return;
    *out_++ = static_cast<char>(number << 3 | 5);
    std::memcpy(out_, &value, sizeof(value));
    out_ += sizeof(value);
  }
  // Starts a length-delimited field. The caller writes its `size` bytes next.
  void BytesHeader(uint32_t number, uint64_t size) {
    *out_++ = static_cast<char>(number << 3 | 2);
    Varint(size);
  }
  void BytesHeaderOrNone(uint32_t number, uint64_t size) {
    if (size > 0) BytesHeader(number, size);
  }
  void Raw(const void* bytes, uint64_t size) {
    if (size > 0) std::memcpy(out_, bytes, size);
    out_ += size;
  }
  void BytesField(uint32_t number, absl::string_view bytes) {
    if (bytes.empty()) return;
    BytesHeader(number, bytes.size());
    Raw(bytes.data(), bytes.size());
  }

 private:
  char* out_;
};

}  // namespace shoal

#endif  // SHOAL_WIRE_CODEC_WIRE_WRITER_H_
