#include "core/gathered_parts.h"

#include "base/check.h"

namespace shoal {

absl::Span<const char> GatheredParts::part(int rank) const {
  SHOAL_DCHECK(rank >= 0 && rank < size());
  return parts_[static_cast<size_t>(rank)];
}

void GatheredParts::Reset(int ranks) {
  SHOAL_DCHECK(ranks > 0);
  buffers_.resize(static_cast<size_t>(ranks));
  parts_.assign(static_cast<size_t>(ranks), {});
}

absl::Span<char> GatheredParts::Allocate(int rank, size_t bytes) {
  SHOAL_DCHECK(rank >= 0 && rank < size());
  AlignedBuffer<char>& buffer = buffers_[static_cast<size_t>(rank)];
  buffer.ResizeDiscard(bytes);
  const absl::Span<char> room(buffer.data(), bytes);
  parts_[static_cast<size_t>(rank)] = room;
  return room;
}

void GatheredParts::Refer(int rank, absl::Span<const char> bytes) {
  SHOAL_DCHECK(rank >= 0 && rank < size());
  parts_[static_cast<size_t>(rank)] = bytes;
}

}  // namespace shoal
