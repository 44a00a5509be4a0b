#include "wire/codec/fragment_reader.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"

namespace shoal {

static_assert(std::endian::native == std::endian::little,
              "bulk fields are copied as they lie in memory");

FragmentReader::FragmentReader(absl::Span<const absl::string_view> fragments)
    : fragment_(fragments.data()) {
  for (const absl::string_view fragment : fragments) {
    remaining_ += fragment.size();
  }
}

void FragmentReader::Advance(uint64_t size) {
  SHOAL_DCHECK(size <= remaining_);
  remaining_ -= size;
  while (size > 0) {
    const uint64_t here = fragment_->size() - offset_;
    if (size < here) {
      offset_ += size;
      return;
    }
    size -= here;
    ++fragment_;
    offset_ = 0;
  }
}

bool FragmentReader::ReadVarint(uint64_t* value) {
  FragmentReader ahead = *this;
  uint64_t result = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    uint8_t byte;
    if (!ahead.CopyTo(&byte, 1)) return false;
    // The tenth byte has room for one bit.
    if (shift == 63 && byte > 1) return false;
    result |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) {
      *value = result;
      *this = ahead;
      return true;
    }
  }
  return false;
}

bool FragmentReader::ReadFixed32(uint64_t* value) {
  uint32_t word;
  if (!CopyTo(&word, sizeof(word))) return false;
  *value = word;
  return true;
}

bool FragmentReader::ReadFixed64(uint64_t* value) {
  return CopyTo(value, sizeof(*value));
}

bool FragmentReader::CopyTo(void* out, uint64_t size) {
  if (size > remaining_) return false;
  remaining_ -= size;
  char* to = static_cast<char*>(out);
  while (size > 0) {
    const uint64_t here = std::min(size, fragment_->size() - offset_);
    std::memcpy(to, fragment_->data() + offset_, here);
    to += here;
    size -= here;
    offset_ += here;
    if (offset_ == fragment_->size()) {
      ++fragment_;
      offset_ = 0;
    }
  }
  return true;
}

bool FragmentReader::Skip(uint64_t size) {
  if (size > remaining_) return false;
  Advance(size);
  return true;
}

bool FragmentReader::Take(uint64_t size, FragmentReader* body) {
  if (size > remaining_) return false;
  FragmentReader taken = *this;
  taken.remaining_ = size;
  *body = taken;
  Advance(size);
  return true;
}

void FragmentReader::ListFragments(std::vector<absl::string_view>* out) const {
  FragmentReader ahead = *this;
  while (ahead.remaining_ > 0) {
    const absl::string_view piece =
        ahead.fragment_->substr(ahead.offset_, ahead.remaining_);
    if (!piece.empty()) out->push_back(piece);
    ahead.Advance(piece.size());
    // Advance stops at an empty fragment: step over it.
    if (piece.empty()) {
      ++ahead.fragment_;
      ahead.offset_ = 0;
    }
  }
}

}  // namespace shoal
