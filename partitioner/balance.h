#ifndef SHOAL_PARTITIONER_BALANCE_H_
#define SHOAL_PARTITIONER_BALANCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/model_spec.h"
#include "core/shard_map.h"

namespace shoal {

// What one shard holds and serves.
struct ShardLoad {
  uint64_t bytes = 0;    // weights and slots
  uint64_t rows = 0;     // of all tables
  uint64_t lookups = 0;  // ids served by pulls; 0 in a plan
};

// By shard. At run time the fields are those of StatsReply.
using BalanceReport = std::vector<ShardLoad>;

// Bytes and rows that each shard of `map` will hold when all rows exist; those
// of dynamic tables are not known before and left out. REQUIRES: `map` was
// built of `model`.
BalanceReport PlanBalance(const ModelSpec& model, const ShardMap& map);

// Largest over mean: 1 is even, the number of shards is all on one; 1 too where
// there is nothing. A job waits for its fullest shard, so this is by how much
// more it could hold, or serve, were the shards even.
double BytesSkew(const BalanceReport& report);
double RowsSkew(const BalanceReport& report);
double LookupsSkew(const BalanceReport& report);

// A table for people, a line a shard and one of skews, each ended by '\n'.
std::string FormatBalance(const BalanceReport& report);

}  // namespace shoal

#endif  // SHOAL_PARTITIONER_BALANCE_H_
