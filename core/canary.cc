#include "core/canary.h"

#include "absl/strings/str_cat.h"
#include "base/stable_hash.h"

namespace shoal {

void AddCanary(ModelSpec* spec) {
  TableSpec table;
  table.name = "canary";
  table.on_every_shard = true;
  for (const char* name : {"canary", "canary_start"}) {
    ColumnSpec column;
    column.variable = name;
    column.dim = 1;
    column.optimizer.kind = OptimizerKind::kSgd;
    column.optimizer.learning_rate = 1;
    table.columns.push_back(column);
  }
  spec->tables.push_back(table);
}

absl::StatusOr<FeatureId> CanaryRow(const BatchId& batch) {
  if (batch.epoch >> 16 != 0 || batch.piece >> 24 != 0 ||
      batch.index >> 24 != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "batch ", ToString(batch),
        " has no canary row: there are 2^16 epochs, "
        "2^24 pieces and 2^24 batches of a piece; train without --canary"));
  }
  return uint64_t{batch.epoch} << 48 | uint64_t{batch.piece} << 24 |
         batch.index;
}

float CanaryOfStart(StartNumber start) {
  return static_cast<float>(1 + (StableHashCombine(start, 0) >> 41));
}

std::array<float, 2> CanaryGradients(StartNumber start) {
  return {-1, -CanaryOfStart(start)};
}

}  // namespace shoal
