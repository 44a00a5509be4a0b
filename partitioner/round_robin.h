#ifndef SHOAL_PARTITIONER_ROUND_ROBIN_H_
#define SHOAL_PARTITIONER_ROUND_ROBIN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/model_spec.h"

namespace shoal {

// What TensorFlow does with variables that no partitioner cuts: each goes
// whole, with its slots, to the next server in turn. Never used to place
// anything here: the balance report says what it would give.

// A variable and what it takes with its slots.
struct WholeVariable {
  std::string name;
  uint64_t bytes = 0;
};

// The variables in the order in which the reference script makes them: single
// numbers (the bias), the columns of all tables, the other dense variables.
// Bytes as if every row existed; columns of dynamic tables are left out.
std::vector<WholeVariable> WholeVariables(const ModelSpec& model);

// Bytes by shard: variable i on shard i mod num_shards. REQUIRES: num_shards >=
// 1.
std::vector<uint64_t> RoundRobinBytes(
    const std::vector<WholeVariable>& variables, int num_shards);

}  // namespace shoal

#endif  // SHOAL_PARTITIONER_ROUND_ROBIN_H_
