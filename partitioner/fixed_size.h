#ifndef SHOAL_PARTITIONER_FIXED_SIZE_H_
#define SHOAL_PARTITIONER_FIXED_SIZE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "base/check.h"

namespace shoal {

// Cuts an axis into contiguous parts, as TensorFlow's fixed_size_partitioner
// does: the first (length mod parts) parts hold one index more than the others.
// If there are fewer indices than parts, the last parts are empty. All
// functions are pure. REQUIRES: length >= 0, parts >= 1, 0 <= part <= parts.

// First index of part `part`; the axis' length if part == parts.
inline uint64_t FixedSizeBegin(uint64_t length, uint64_t parts, uint64_t part) {
  SHOAL_DCHECK(parts >= 1 && part <= parts);
  return part * (length / parts) + std::min(part, length % parts);
}

// Number of indices of part `part`. REQUIRES: part < parts.
inline uint64_t FixedSizeLength(uint64_t length, uint64_t parts,
                                uint64_t part) {
  SHOAL_DCHECK(part < parts);
  return length / parts + (part < length % parts ? 1 : 0);
}

// The part that holds `index`. REQUIRES: index < length.
inline uint64_t FixedSizePart(uint64_t length, uint64_t parts, uint64_t index) {
  SHOAL_DCHECK(parts >= 1);
  SHOAL_DCHECK(index < length);
  const uint64_t shorter = length / parts;
  const uint64_t longer_parts = length % parts;
  const uint64_t in_longer = longer_parts * (shorter + 1);
  if (index < in_longer) return index / (shorter + 1);
  return longer_parts + (index - in_longer) / shorter;
}

// The result of fixed_size_partitioner(num_shards, axis) for `shape`: the
// number of parts along each axis. That is 1 for every axis but `axis`, where
// it is num_shards, or the axis' length if that is less: (10, 10) over 5 -> {5,
// 1}. REQUIRES: num_shards >= 1, axis < rank.
inline std::vector<int64_t> FixedSizePartitions(absl::Span<const int64_t> shape,
                                                int num_shards, int axis = 0) {
  SHOAL_DCHECK(num_shards >= 1);
  SHOAL_DCHECK(axis >= 0 && static_cast<size_t>(axis) < shape.size());
  std::vector<int64_t> parts(shape.size(), 1);
  parts[axis] = std::min<int64_t>(num_shards, shape[axis]);
  return parts;
}

}  // namespace shoal

#endif  // SHOAL_PARTITIONER_FIXED_SIZE_H_
