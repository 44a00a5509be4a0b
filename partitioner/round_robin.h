#ifndef SHOAL_PARTITIONER_ROUND_ROBIN_H_
#define SHOAL_PARTITIONER_ROUND_ROBIN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/model_spec.h"

namespace shoal {

// The placement of TensorFlow for variables without a partitioner: each
// variable goes whole, with its slots, to the next server in turn. Shoal does
// not place variables so; the balance report shows this placement for
// comparison.

// A variable and its bytes, slots included.
struct WholeVariable {
  std::string name;
  uint64_t bytes = 0;
};

// The variables in the order in which the reference script makes them: single
// numbers (the bias), the columns of all tables, the other dense variables.
// Their bytes are those with every row in existence; columns of dynamic tables
// are left out.
std::vector<WholeVariable> WholeVariables(const ModelSpec& model);

// Bytes by shard: variable i on shard i mod num_shards. REQUIRES: num_shards >=
// 1.
std::vector<uint64_t> RoundRobinBytes(
    const std::vector<WholeVariable>& variables, int num_shards);

}  // namespace shoal

#endif  // SHOAL_PARTITIONER_ROUND_ROBIN_H_
