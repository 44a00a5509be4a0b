#ifndef SHOAL_PS_SHARD_SHARD_STATS_H_
#define SHOAL_PS_SHARD_SHARD_STATS_H_

#include <cstdint>
#include <vector>

#include "core/ids.h"
#include "core/model_spec.h"
#include "core/parameter_service.h"
#include "ps/shard/shard_contents.h"

namespace shoal {

// Bytes and rows of the variables: the columns of all tables but the canary,
// then the dense ones; their staleness is left out. Thread-safe.
std::vector<VariableStats> CountVariables(const ShardContents& contents,
                                          const ModelSpec& model);

// Rows of the canary table whose push did not come from a worker of this start
// of the job; 0 without such a table. Thread-safe.
uint64_t CountForeignCanaries(const ShardContents& contents, StartNumber start);

// Adds what the tables and dense blocks hold to a new reply: bytes, rows,
// digest, the variables (the columns of all tables, then the dense ones, their
// staleness left out) and the canary, without its count of foreign rows. Reads
// every row in existence. Thread-safe.
void AddContents(const ShardContents& contents, const ModelSpec& model,
                 StatsReply* reply);

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_SHARD_STATS_H_
