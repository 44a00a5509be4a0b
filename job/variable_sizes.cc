#include "job/variable_sizes.h"

namespace shoal {
namespace {

constexpr uint64_t kFloat = 4;  // bytes
// 2 operations for a weight in the forward pass, and 4 in the backward one.
constexpr double kFlopPerWeight = 6;

}  // namespace

VariableSizes SizesOf(const ModelSpec& spec) {
  VariableSizes sizes;
  sizes.dense_bytes = kFloat * static_cast<uint64_t>(spec.dense_size());
  bool grows = false;
  for (const TableSpec& table : spec.tables) {
    if (table.on_every_shard) continue;
    const auto weights = static_cast<uint64_t>(table.row_dim());
    const auto slots = static_cast<uint64_t>(table.slot_dim());
    sizes.row_bytes += kFloat * weights;
    sizes.table_bytes += kFloat * table.feature_size * (weights + slots);
    grows = grows || table.dynamic();
  }
  if (grows) sizes.table_bytes = 0;
  for (const DenseSpec& dense : spec.dense) {
    if (dense.shape.size() != 2) continue;
    sizes.flop_per_sample += kFlopPerWeight * static_cast<double>(dense.size());
  }
  return sizes;
}

}  // namespace shoal
