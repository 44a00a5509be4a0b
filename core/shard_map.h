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
  std::vector<TablePartition> tables;  // by table index
  std::vector<DenseBlock> blocks;      // ascending by flat_begin
};

}  // namespace shoal

#endif  // SHOAL_CORE_SHARD_MAP_H_
