#ifndef SHOAL_PARTITIONER_BUILD_SHARD_MAP_H_
#define SHOAL_PARTITIONER_BUILD_SHARD_MAP_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "core/model_spec.h"
#include "core/shard_map.h"

namespace shoal {

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
};

// The map of `model` over `num_shards` shards. A pure function, so every
// process computes the same map from the same arguments. INVALID_ARGUMENT:
// num_shards is not in [1, 65,535], the model is not valid, or table_kind is
// not for tables with a feature_size.
absl::StatusOr<ShardMap> BuildShardMap(const ModelSpec& model,
                                       const PartitionOptions& options,
                                       int num_shards);

}  // namespace shoal

#endif  // SHOAL_PARTITIONER_BUILD_SHARD_MAP_H_
