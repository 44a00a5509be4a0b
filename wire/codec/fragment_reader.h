#ifndef SHOAL_WIRE_CODEC_FRAGMENT_READER_H_
#define SHOAL_WIRE_CODEC_FRAGMENT_READER_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace shoal {

// Reads bytes that arrived in fragments, once and from front to back. A value
// may lie in several fragments. Owns nothing: the fragments and the array that
// lists them must outlive every reader over them. Cheap to copy; a copy has a
// position of its own. Thread-compatible.
class FragmentReader {
 public:
  FragmentReader() = default;
  explicit FragmentReader(absl::Span<const absl::string_view> fragments);

  uint64_t remaining() const { return remaining_; }

  // Each of the following returns false, and reads nothing, if fewer bytes
  // remain than it needs.

  // A base-128 varint of at most 10 bytes and 64 bits.
  bool ReadVarint(uint64_t* value);
  // 4 or 8 bytes, little-endian.
  bool ReadFixed32(uint64_t* value);
  bool ReadFixed64(uint64_t* value);
  bool CopyTo(void* out, uint64_t size);
  bool Skip(uint64_t size);
  // Makes `body` a reader over the next `size` bytes, and skips them here.
  bool Take(uint64_t size, FragmentReader* body);

  // Appends the fragments of the bytes that remain; reads nothing.
  void ListFragments(std::vector<absl::string_view>* out) const;

 private:
  // Moves past `size` bytes. REQUIRES: size <= remaining().
  void Advance(uint64_t size);

  const absl::string_view* fragment_ = nullptr;
  uint64_t offset_ = 0;     // in *fragment_
  uint64_t remaining_ = 0;  // in all fragments
};

}  // namespace shoal

#endif  // SHOAL_WIRE_CODEC_FRAGMENT_READER_H_
