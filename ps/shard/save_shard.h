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

// A shard that does not change during the call. The objects pointed to must
// outlive the call.
struct SealedShard {
  const ModelSpec* model = nullptr;
  const ShardMap* map = nullptr;
  int shard = 0;
  const ShardContents* contents = nullptr;
  ShardCounters counters;
  MarkTotals mark_totals;
  std::vector<uint64_t> lookups;  // by table
};

// Writes the shard's file tensor by tensor, with a buffer of 1 MiB: each tensor
// takes one walk over its table. The result does not refer to the shard.
// Errors: those of ParameterShard::Write.
absl::StatusOr<std::unique_ptr<WrittenShard>> WriteShard(
    const SealedShard& shard, const SaveShardOptions& options);

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_SAVE_SHARD_H_
