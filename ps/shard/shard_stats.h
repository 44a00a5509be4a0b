#ifndef SHOAL_PS_SHARD_SHARD_STATS_H_
#define SHOAL_PS_SHARD_SHARD_STATS_H_

#include <vector>

#include "core/model_spec.h"
#include "core/parameter_service.h"
#include "ps/shard/request_check.h"

namespace shoal {

// Bytes and rows of the variables: the columns of all tables but the canary,
// then the dense ones; their staleness is left out. Thread-safe.
std::vector<VariableStats> CountVariables(const ShardContents& contents,
                                          const ModelSpec& model);

// Adds what the tables and dense blocks hold to a new reply: bytes, rows,
// digest, the variables (the columns of all tables, then the dense ones, their
// staleness left out) and the canary. Reads every row in existence.
// Thread-safe.
void AddContents(const ShardContents& contents, const ModelSpec& model,
                 StatsReply* reply);

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_SHARD_STATS_H_
