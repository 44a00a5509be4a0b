#ifndef SHOAL_PARTITIONER_BUILD_SHARD_MAP_H_
#define SHOAL_PARTITIONER_BUILD_SHARD_MAP_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "core/model_spec.h"
#include "core/shard_map.h"

namespace shoal {

// The variables that the replicated shard of a map holds.
enum class Replicate {
  kNothing,  // there is no replicated shard
  kDense,    // every dense variable; the other shards have the tables' rows
  kAll,      // every variable: the replicated shard is the only shard
};

struct PartitionOptions {
  // Partition of the tables with a feature_size: fixed_size or mod. Dynamic
  // tables are placed by hash; tables on every shard are not placed.
  PartitionKind table_kind = PartitionKind::kFixedSize;
  // Dense variables of at least this many bytes are cut along axis 0 into one
  // block for each shard (fixed_size.h; a shard that gets no row has no block).
  // Smaller variables, and variables with one row, are placed whole, the
  // largest first, each on the shard with the fewest dense bytes so far
  // (greedy.h).
  int64_t cut_dense_bytes = 64 << 10;
  // The variables of the replicated shard (ShardMap::replicated). Dense
  // variables there are whole.
  Replicate replicate = Replicate::kNothing;
};

// The map of `model` over `num_shards` shards, the replicated one among them,
// which counts once. A pure function, so every process computes the same map
// from the same arguments. INVALID_ARGUMENT: num_shards is not in [1, 65,535],
// not 1 with kAll, or below 2 with kDense; the model is not valid; or
// table_kind is not for tables with a feature_size.
absl::StatusOr<ShardMap> BuildShardMap(const ModelSpec& model,
                                       const PartitionOptions& options,
                                       int num_shards);

}  // namespace shoal

#endif  // SHOAL_PARTITIONER_BUILD_SHARD_MAP_H_
