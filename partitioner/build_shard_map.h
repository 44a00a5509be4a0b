#ifndef SHOAL_PARTITIONER_BUILD_SHARD_MAP_H_
#define SHOAL_PARTITIONER_BUILD_SHARD_MAP_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "core/model_spec.h"
#include "core/shard_map.h"

namespace shoal {

struct PartitionOptions {
  // Of tables with a feature_size: fixed_size or mod. Dynamic tables are placed
  // by hash, those on every shard by nothing.
  PartitionKind table_kind = PartitionKind::kFixedSize;
  // Dense variables of at least this many bytes are cut along axis 0 into one
  // block a shard (fixed_size.h; a shard that gets no row has no block).
  // Smaller ones, and those with one row, are placed whole, the largest first,
  // each on the shard with the fewest dense bytes so far (greedy.h).
  int64_t cut_dense_bytes = 64 << 10;
};

// The map of `model` over `num_shards` shards: the same on every process that
// is given the same arguments. INVALID_ARGUMENT for num_shards < 1 or > 65,535,
// for a model that does not validate, and for a table_kind that a table with a
// feature_size cannot have.
absl::StatusOr<ShardMap> BuildShardMap(const ModelSpec& model,
                                       const PartitionOptions& options,
                                       int num_shards);

}  // namespace shoal

#endif  // SHOAL_PARTITIONER_BUILD_SHARD_MAP_H_
