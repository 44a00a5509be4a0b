#include "job/variable_sizes.h"

#include "core/sample_work.h"

namespace shoal {
namespace {

constexpr uint64_t kFloat = 4;  // bytes

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
