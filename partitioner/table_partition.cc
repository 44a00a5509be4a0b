#include "partitioner/table_partition.h"

#include "base/check.h"
#include "base/stable_hash.h"
#include "partitioner/fixed_size.h"

namespace shoal {

int ShardOf(const TablePartition& partition, FeatureId id) {
  SHOAL_DCHECK(partition.kind != PartitionKind::kEveryShard);
  const uint64_t n = partition.num_shards;
  switch (partition.kind) {
    case PartitionKind::kFixedSize:
      return static_cast<int>(FixedSizePart(partition.feature_size, n, id));
    case PartitionKind::kMod:
      return static_cast<int>(id % n);
    case PartitionKind::kHash:
      return static_cast<int>(StableHash(id) % n);
    case PartitionKind::kEveryShard:
      break;
  }
  return 0;
}

uint64_t RowsOnShard(const TablePartition& partition, int shard) {
  // mod deals the ids 0, 1, ... in turn, so its shares are those of fixed_size.
  return FixedSizeLength(partition.feature_size, partition.num_shards, shard);
}

uint64_t LocalRow(const TablePartition& partition, FeatureId id) {
  const uint64_t n = partition.num_shards;
  if (partition.kind == PartitionKind::kMod) return id / n;
  const uint64_t size = partition.feature_size;
  return id - FixedSizeBegin(size, n, FixedSizePart(size, n, id));
}

FeatureId GlobalRow(const TablePartition& partition, int shard,
                    uint64_t local_row) {
  const uint64_t n = partition.num_shards;
  if (partition.kind == PartitionKind::kMod) return local_row * n + shard;
  return FixedSizeBegin(partition.feature_size, n, shard) + local_row;
}

}  // namespace shoal
