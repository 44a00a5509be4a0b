#ifndef SHOAL_PS_SHARD_SHARD_STATS_H_
#define SHOAL_PS_SHARD_SHARD_STATS_H_

#include "core/model_spec.h"
#include "core/parameter_service.h"
#include "ps/shard/request_check.h"

namespace shoal {

// Adds what the tables and dense blocks hold to a new reply: bytes, rows,
// digest, the variables (the columns of all tables, then the dense ones, their
// staleness left out) and the canary. Reads every row in existence.
// Thread-safe.
void AddContents(const ShardContents& contents, const ModelSpec& model,
                 StatsReply* reply);

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_SHARD_STATS_H_
