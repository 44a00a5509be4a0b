#ifndef SHOAL_PARTITIONER_SPLIT_H_
#define SHOAL_PARTITIONER_SPLIT_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "core/ids.h"
#include "core/shard_map.h"

namespace shoal {

// Distinct ids of one table regrouped by owner, so that each shard's part is
// one contiguous range: requests and replies of all shards then share one ids
// array and one values array, and merging replies costs nothing.
struct IdSplit {
  // The ids, shard 0's first; order within a shard is that of the input.
  std::vector<FeatureId> ids;
  // ids[begin[s], begin[s + 1]) belong to shard s; num_shards + 1 entries.
  std::vector<uint32_t> begin;
  // Input position i went to position[i] of `ids` (the inverse index).
  std::vector<uint32_t> position;
};

// Overwrites *split, reusing its memory. O(ids + shards). REQUIRES: every id is
// below partition.feature_size, where it has one; the table is not on every
// shard.
void SplitIds(const TablePartition& partition, absl::Span<const FeatureId> ids,
              IdSplit* split);

}  // namespace shoal

#endif  // SHOAL_PARTITIONER_SPLIT_H_
