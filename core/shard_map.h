#ifndef SHOAL_CORE_SHARD_MAP_H_
#define SHOAL_CORE_SHARD_MAP_H_

#include <cstdint>
#include <vector>

#include "core/ids.h"

namespace shoal {

enum class PartitionKind {
  kFixedSize,  // contiguous ranges; the first (rows mod n) get one row more
  kMod,        // id mod n
  kHash,       // StableHash(id) mod n; for dynamic tables, and only those
  // Every shard has its own row for every id, so an id has no single owner
  // (TableSpec::on_every_shard).
  kEveryShard,
};

// The rule that gives each row of one table its shard
// (partitioner/table_partition.h).
struct TablePartition {
  PartitionKind kind = PartitionKind::kFixedSize;
  uint64_t feature_size = 0;  // 0: a dynamic table, any id
  // The rows are on the shards 0 to num_shards - 1. Further shards of the map
  // have none.
  int num_shards = 1;
};

// A range of a dense variable that one shard holds: elements [begin, end) of
// the variable in row-major order, whole rows of axis 0.
struct DenseBlock {
  int variable = 0;  // index into ModelSpec::dense
  int64_t begin = 0;
  int64_t end = 0;
  int shard = 0;
  // Position of the block's first element in the concatenation of all dense
  // variables, the worker's flat parameter vector.
  int64_t flat_begin = 0;

  int64_t size() const { return end - begin; }
};

// The shards of every variable: a pure function of (ModelSpec, partition
// option, number of shards), so every process computes the same one
// (partitioner/build_shard_map.h) and the wire carries only its version.
struct ShardMap {
  MapVersion version = 1;
  int num_shards = 1;
  // The shard of which each rank of a synchronous mode holds a copy; it is the
  // last shard. -1: there is none. A copy is no shard of its own: in the map
  // the shard counts once. core/ps_members.h says who holds which shard.
  int replicated = -1;
  std::vector<TablePartition> tables;  // by table index
  std::vector<DenseBlock> blocks;      // ascending by flat_begin

  // TablePartition::num_shards of a table of this kind: all shards, without the
  // replicated shard if there are others. The replicated shard then has dense
  // blocks alone; only a table on every shard is there too.
  int ShardsOf(PartitionKind kind) const {
    return replicated > 0 && kind != PartitionKind::kEveryShard ? replicated
                                                                : num_shards;
  }
};

}  // namespace shoal

#endif  // SHOAL_CORE_SHARD_MAP_H_
