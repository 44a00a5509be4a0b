#ifndef SHOAL_PS_SHARD_LOAD_SHARD_H_
#define SHOAL_PS_SHARD_LOAD_SHARD_H_

#include "absl/status/statusor.h"
#include "core/model_spec.h"
#include "core/shard_map.h"
#include "ps/shard/shard_checkpoint.h"
#include "ps/shard/shard_contents.h"

namespace shoal {

// Fills the newly created contents of shard `shard` of `map` from a checkpoint
// over any number of shards, and returns the shard's counters. Errors: those of
// ParameterShard::Load; after an error the contents must not be used. REQUIRES:
// the manifest is valid, CheckLoadable(...) is OK, the map fits the model.
absl::StatusOr<ShardCounters> LoadShard(const LoadShardOptions& options,
                                        const ModelSpec& model,
                                        const ShardMap& map, int shard,
                                        const ShardContents& contents);

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_LOAD_SHARD_H_
