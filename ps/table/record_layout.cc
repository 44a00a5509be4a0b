#include "ps/table/record_layout.h"

namespace shoal {
namespace {

constexpr size_t kAlignment = 16;
static_assert(kCellsPerSlab * kAlignment % 64 == 0);

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

}  // namespace shoal
