#ifndef SHOAL_PARTITIONER_BALANCE_H_
#define SHOAL_PARTITIONER_BALANCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/model_spec.h"
#include "core/shard_map.h"

namespace shoal {

// The load of one shard.
struct ShardLoad {
  uint64_t bytes = 0;    // weights and slots
  uint64_t rows = 0;     // rows of all tables
  uint64_t lookups = 0;  // ids served by pulls; 0 in a plan
};

// Loads by shard. At run time the numbers come from StatsReply.
using BalanceReport = std::vector<ShardLoad>;

// Bytes and rows that each shard of `map` will hold when all rows exist. The
// rows of dynamic tables are not known before training and are left out.
// REQUIRES: `map` was built from `model`.
BalanceReport PlanBalance(const ModelSpec& model, const ShardMap& map);

// The largest value over the mean: 1 if the shards are even, the number of
// shards if one shard has everything, and 1 if all values are 0. A job waits
// for its fullest shard, so this is the factor that it would gain from even
// shards.
double BytesSkew(const BalanceReport& report);
double RowsSkew(const BalanceReport& report);
double LookupsSkew(const BalanceReport& report);

// A table for people: one line for each shard and one with the skews. Every
// line ends with '\n'.
std::string FormatBalance(const BalanceReport& report);

}  // namespace shoal

#endif  // SHOAL_PARTITIONER_BALANCE_H_
