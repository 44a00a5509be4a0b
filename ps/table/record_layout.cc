#include "ps/table/record_layout.h"

#include "base/check.h"

namespace shoal {
namespace {

constexpr size_t kAlignment = 16;
static_assert(kCellsPerSlab * kAlignment % 64 == 0);

// True if one step can update both columns, one weight after another.
bool UpdatedAlike(const OptimizerSpec& a, const OptimizerSpec& b) {
  return a.kind == b.kind &&
         (a.kind == OptimizerKind::kSgd || a.kind == OptimizerKind::kAdagrad) &&
         a.learning_rate == b.learning_rate &&
         a.warmup_batches == b.warmup_batches && a.l2 == b.l2 &&
         a.l2_scope == b.l2_scope;
}

}  // namespace

RecordLayout::RecordLayout(const TableSpec& spec)
    : row_dim_(spec.row_dim()), slot_dim_(spec.slot_dim()) {
  const size_t bytes = sizeof(RecordHeader) + payload_bytes();
  stride_ = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  int weights = 0;
  int slots = spec.row_dim();
  for (const ColumnSpec& column : spec.columns) {
    ColumnLayout layout;
    layout.dim = column.dim;
    layout.weights = weights;
    layout.slots = slots;
    layout.slot_count =
        static_cast<int>(column.optimizer.slot_floats(column.dim));
    weights += layout.dim;
    slots += layout.slot_count;
    columns_.push_back(layout);
  }
}

std::vector<ColumnRun> ColumnRuns(const TableSpec& spec,
                                  const RecordLayout& layout) {
  SHOAL_DCHECK(layout.columns().size() == spec.columns.size());
  std::vector<ColumnRun> runs;
  for (size_t c = 0; c < spec.columns.size(); ++c) {
    const ColumnLayout& lies = layout.columns()[c];
    if (c > 0 && UpdatedAlike(spec.columns[c - 1].optimizer,
                              spec.columns[c].optimizer)) {
      runs.back().lies.dim += lies.dim;
      runs.back().lies.slot_count += lies.slot_count;
    } else {
      runs.push_back({c, lies});
    }
  }
  return runs;
}

}  // namespace shoal
