#ifndef SHOAL_PS_SHARD_SAVE_SHARD_H_
#define SHOAL_PS_SHARD_SAVE_SHARD_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/ids.h"
#include "core/model_spec.h"
#include "core/shard_map.h"
#include "ps/shard/shard_checkpoint.h"
#include "ps/shard/shard_contents.h"
#include "ps/shard/written_shard.h"

namespace shoal {

// A shard that nothing changes. What is pointed to outlives the call.
struct SealedShard {
  const ModelSpec* model = nullptr;
  const ShardMap* map = nullptr;
  int shard = 0;
  const ShardContents* contents = nullptr;
  ShardCounters counters;
  MarkTotals mark_totals;
  std::vector<uint64_t> lookups;  // by table
};

// Writes the shard's file tensor by tensor: a table is walked once a tensor,
// and what is held is a buffer of 1 MiB. Nothing of the shard is needed after
// the call. Errors: those of ParameterShard::Write.
absl::StatusOr<std::unique_ptr<WrittenShard>> WriteShard(
    const SealedShard& shard, const SaveShardOptions& options);

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_SAVE_SHARD_H_
