#ifndef SHOAL_PS_SHARD_LOAD_SHARD_H_
#define SHOAL_PS_SHARD_LOAD_SHARD_H_

#include <vector>

#include "absl/status/statusor.h"
#include "checkpoint/manifest.h"
#include "core/model_spec.h"
#include "core/shard_map.h"
#include "ps/shard/shard_checkpoint.h"
#include "ps/shard/shard_contents.h"

namespace shoal {

// The shards of the checkpoint `saved`, ascending, whose files LoadShard reads
// for shard `shard` of `map`. REQUIRES: as for LoadShard.
std::vector<int> ShardsToLoad(const Manifest& saved, bool weights_only,
                              const ModelSpec& model, const ShardMap& map,
                              int shard);

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
