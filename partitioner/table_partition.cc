#include "partitioner/table_partition.h"

#include "base/check.h"
#include "base/stable_hash.h"
#include "partitioner/fixed_size.h"

namespace shoal {
namespace {

[[maybe_unused]] bool IsShard(const TablePartition& partition, int shard) {
  return shard >= 0 && shard < partition.num_shards;
}

[[maybe_unused]] bool IsRow(const TablePartition& partition, FeatureId id) {
  return partition.feature_size == 0 || id < partition.feature_size;
}

[[maybe_unused]] bool IsArray(const TablePartition& partition) {
  return partition.kind == PartitionKind::kFixedSize ||
         partition.kind == PartitionKind::kMod;
}

}  // namespace

int ShardOf(const TablePartition& partition, FeatureId id) {
  SHOAL_DCHECK(partition.kind != PartitionKind::kEveryShard);
  SHOAL_DCHECK(IsRow(partition, id));
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
  SHOAL_DCHECK(partition.kind != PartitionKind::kEveryShard);
  SHOAL_DCHECK(shard >= 0);
  if (shard >= partition.num_shards) return 0;
  // mod assigns the ids 0, 1, ... to the shards in turn, so the shards have as
  // many rows as with fixed_size.
  return FixedSizeLength(partition.feature_size, partition.num_shards, shard);
}

uint64_t LocalRow(const TablePartition& partition, FeatureId id) {
  SHOAL_DCHECK(IsArray(partition));
  SHOAL_DCHECK(IsRow(partition, id));
  const uint64_t n = partition.num_shards;
  if (partition.kind == PartitionKind::kMod) return id / n;
  const uint64_t size = partition.feature_size;
  return id - FixedSizeBegin(size, n, FixedSizePart(size, n, id));
}

FeatureId GlobalRow(const TablePartition& partition, int shard,
                    uint64_t local_row) {
  SHOAL_DCHECK(IsArray(partition));
  SHOAL_DCHECK(IsShard(partition, shard));
  const uint64_t n = partition.num_shards;
  if (partition.kind == PartitionKind::kMod) return local_row * n + shard;
  return FixedSizeBegin(partition.feature_size, n, shard) + local_row;
}

}  // namespace shoal
