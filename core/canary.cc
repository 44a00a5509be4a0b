#include "core/canary.h"

#include "absl/strings/str_cat.h"

namespace shoal {

void AddCanary(ModelSpec* spec) {
  TableSpec table;
  table.name = "canary";
  table.on_every_shard = true;
  ColumnSpec column;
  column.variable = "canary";
  column.dim = 1;
  column.optimizer.kind = OptimizerKind::kSgd;
  column.optimizer.learning_rate = 1;
  table.columns = {column};
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

}  // namespace shoal
