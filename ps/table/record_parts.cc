#include "ps/table/record_parts.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "ps/table/record_layout.h"

namespace shoal {

std::vector<SlotPart> SlotParts(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::kSgd:
      return {};
    case OptimizerKind::kAdagrad:
      return {{"adagrad_accumulator"}};
    case OptimizerKind::kRowwiseAdagrad:
      return {{"rowwise_adagrad_accumulator", /*one_a_row=*/true}};
    case OptimizerKind::kAdam:
      return {{"adam_m"}, {"adam_v"}};
    case OptimizerKind::kFtrl:
      return {{"ftrl_accumulator"}, {"ftrl_linear"}};
  }
  return {};
}

std::string SlotTensorName(absl::string_view variable, absl::string_view slot) {
  return absl::StrCat(variable, "@", slot);
}

std::vector<RecordPart> RecordParts(const TableSpec& spec) {
  const RecordLayout layout(spec);
  std::vector<RecordPart> parts;
  for (size_t c = 0; c < spec.columns.size(); ++c) {
    const ColumnSpec& column = spec.columns[c];
    const ColumnLayout& lies = layout.columns()[c];
    const auto dim = static_cast<size_t>(lies.dim);
    parts.push_back({column.variable, static_cast<size_t>(lies.weights), dim});
    auto first = static_cast<size_t>(lies.slots);
    for (const SlotPart& slot : SlotParts(column.optimizer.kind)) {
      const size_t floats = slot.one_a_row ? 1 : dim;
      parts.push_back({SlotTensorName(column.variable, slot.name), first,
                       floats, /*slot=*/true});
      first += floats;
    }
  }
  return parts;
}

}  // namespace shoal
