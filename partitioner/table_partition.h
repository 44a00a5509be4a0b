#ifndef SHOAL_PARTITIONER_TABLE_PARTITION_H_
#define SHOAL_PARTITIONER_TABLE_PARTITION_H_

#include <cstdint>

#include "core/ids.h"
#include "core/shard_map.h"

namespace shoal {

// The places of the rows of one table. All functions are pure, and cheap enough
// to be called for every id. REQUIRES: id < partition.feature_size, if the
// table has one; 0 <= shard < num_shards, unless a function says more; the
// table is not on every shard.

// The shard that owns row `id`.
int ShardOf(const TablePartition& partition, FeatureId id);

// Number of rows that `shard` owns of a table that is an array (fixed_size,
// mod); 0 for a dynamic table, whose rows are not known before training, and
// for a further shard of the map, which has no rows of the table.
uint64_t RowsOnShard(const TablePartition& partition, int shard);

// The position of row `id` in its shard's array, in [0, RowsOnShard); and back.
// Only for fixed_size and mod.
uint64_t LocalRow(const TablePartition& partition, FeatureId id);
FeatureId GlobalRow(const TablePartition& partition, int shard,
                    uint64_t local_row);

}  // namespace shoal

#endif  // SHOAL_PARTITIONER_TABLE_PARTITION_H_
