#ifndef SHOAL_PARTITIONER_SPLIT_H_
#define SHOAL_PARTITIONER_SPLIT_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "core/ids.h"
#include "core/shard_map.h"

namespace shoal {

// Distinct ids of one table, grouped by the shard that owns them. Each shard's
// part is one contiguous range, so the requests and replies of all shards share
// one array of ids and one array of values, and merging replies costs nothing.
struct IdSplit {
  // The ids, those of shard 0 first. Within a shard the ids are in the order of
  // the input.
  std::vector<FeatureId> ids;
  // ids[begin[s], begin[s + 1]) belong to shard s; TablePartition::num_shards +
  // 1 entries.
  std::vector<uint32_t> begin;
  // The inverse index: the id at position i of the input is ids[position[i]].
  std::vector<uint32_t> position;
};

// Groups `ids` by shard. Overwrites *split and reuses its memory. O(ids +
// shards). REQUIRES: every id is below partition.feature_size, if the table has
// one; the table is not on every shard.
void SplitIds(const TablePartition& partition, absl::Span<const FeatureId> ids,
              IdSplit* split);

}  // namespace shoal

#endif  // SHOAL_PARTITIONER_SPLIT_H_
