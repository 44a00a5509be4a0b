#ifndef SHOAL_PS_SHARD_SHARD_STATS_H_
#define SHOAL_PS_SHARD_SHARD_STATS_H_

#include <cstdint>
#include <vector>

#include "core/ids.h"
#include "core/model_spec.h"
#include "core/parameter_service.h"
#include "ps/shard/shard_contents.h"

namespace shoal {

// Returns bytes and rows of the variables, without their staleness: the columns
// of all tables except the canary, then the dense variables. Thread-safe.
std::vector<VariableStats> CountVariables(const ShardContents& contents,
                                          const ModelSpec& model);

// Returns the number of rows of the canary table whose push did not come from a
// worker of this start of the job; 0 without a canary table. Thread-safe.
uint64_t CountForeignCanaries(const ShardContents& contents, StartNumber start);

// Adds the figures of the tables and dense blocks to a new reply: bytes, rows,
// digest, the variables without their staleness (the columns of all tables,
// then the dense variables), and the canary without its count of foreign rows.
// Reads every row in existence. Thread-safe.
void AddContents(const ShardContents& contents, const ModelSpec& model,
                 StatsReply* reply);

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_SHARD_STATS_H_
