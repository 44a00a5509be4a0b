#include "partitioner/round_robin.h"

#include "base/check.h"

namespace shoal {

std::vector<WholeVariable> WholeVariables(const ModelSpec& model) {
  std::vector<WholeVariable> numbers;
  std::vector<WholeVariable> layers;
  for (const DenseSpec& dense : model.dense) {
    const int64_t floats =
        dense.size() + dense.optimizer.slot_floats(dense.size());
    (dense.size() == 1 && dense.shape.size() <= 1 ? numbers : layers)
        .push_back({dense.name, sizeof(float) * static_cast<uint64_t>(floats)});
  }
  std::vector<WholeVariable> variables = numbers;
  for (const TableSpec& table : model.tables) {
    if (table.dynamic()) continue;
    for (const ColumnSpec& column : table.columns) {
      const int64_t floats =
          column.dim + column.optimizer.slot_floats(column.dim);
      variables.push_back({column.variable, table.feature_size * sizeof(float) *
                                                static_cast<uint64_t>(floats)});
    }
  }
  variables.insert(variables.end(), layers.begin(), layers.end());
  return variables;
}

std::vector<uint64_t> RoundRobinBytes(
    const std::vector<WholeVariable>& variables, int num_shards) {
  SHOAL_DCHECK(num_shards >= 1);
  std::vector<uint64_t> bytes(num_shards);
  for (size_t i = 0; i < variables.size(); ++i) {
    bytes[i % bytes.size()] += variables[i].bytes;
  }
  return bytes;
}

}  // namespace shoal
