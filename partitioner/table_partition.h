#ifndef SHOAL_PARTITIONER_TABLE_PARTITION_H_
#define SHOAL_PARTITIONER_TABLE_PARTITION_H_

#include <cstdint>

#include "core/ids.h"
#include "core/shard_map.h"

namespace shoal {

// Where the rows of one table live. All are pure and cheap enough to call once
// an id. REQUIRES: id < partition.feature_size, where it has one; 0 <= shard <
// num_shards; the table is not on every shard.

// The shard that owns row `id`.
int ShardOf(const TablePartition& partition, FeatureId id);

// Rows of the table that `shard` owns when it is an array (fixed_size, mod); 0
// of a dynamic table, whose rows nobody knows before.
uint64_t RowsOnShard(const TablePartition& partition, int shard);

// Position of row `id` in its shard's array, in [0, RowsOnShard); and back.
// For fixed_size and mod alone.
uint64_t LocalRow(const TablePartition& partition, FeatureId id);
FeatureId GlobalRow(const TablePartition& partition, int shard,
                    uint64_t local_row);

}  // namespace shoal

#endif  // SHOAL_PARTITIONER_TABLE_PARTITION_H_
