#include "wire/codec/utf8.h"

#include <cstddef>
#include <cstdint>

namespace shoal {
namespace {

// The bytes of a sequence, and the range of its second byte.
struct Sequence {
  size_t size = 0;
  uint8_t second_least = 0x80;
  uint8_t second_most = 0xbf;
};

// The sequence that starts with `lead`. Its size is 0 if no sequence does.
Sequence SequenceOf(uint8_t lead) {
  if (lead < 0x80) return {1};
  if (lead < 0xc2) return {0};
  if (lead < 0xe0) return {2};
  if (lead == 0xe0) return {3, 0xa0, 0xbf};
  if (lead == 0xed) return {3, 0x80, 0x9f};
  if (lead < 0xf0) return {3};
  if (lead == 0xf0) return {4, 0x90, 0xbf};
  if (lead < 0xf4) return {4};
  if (lead == 0xf4) return {4, 0x80, 0x8f};
  return {0};
}

}  // namespace

bool IsValidUtf8(absl::string_view bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const Sequence sequence = SequenceOf(static_cast<uint8_t>(bytes[at]));
    if (sequence.size == 0 || sequence.size > bytes.size() - at) return false;
    for (size_t i = 1; i < sequence.size; ++i) {
      const uint8_t byte = static_cast<uint8_t>(bytes[at + i]);
      const uint8_t least = i == 1 ? sequence.second_least : 0x80;
      const uint8_t most = i == 1 ? sequence.second_most : 0xbf;
      if (byte < least || byte > most) return false;
    }
    at += sequence.size;
  }
  return true;
}

}  // namespace shoal
