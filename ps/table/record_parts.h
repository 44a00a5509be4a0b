#ifndef SHOAL_PS_TABLE_RECORD_PARTS_H_
#define SHOAL_PS_TABLE_RECORD_PARTS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/model_spec.h"
#include "core/optimizer_spec.h"

namespace shoal {

// The slots that an optimizer keeps for a variable, as a checkpoint names and
// counts them, in the order in which they lie in memory.
struct SlotPart {
  absl::string_view name;  // "adam_m"
  bool one_a_row = false;  // false: one float per weight
};
std::vector<SlotPart> SlotParts(OptimizerKind kind);

// A run of floats of a table's record that a checkpoint saves as one tensor:
// the weights of a column, or one of its slots.
struct RecordPart {
  std::string tensor;  // "fm_v", "fm_v@adam_m"
  size_t first = 0;    // in the record's floats
  size_t floats = 0;
  bool slot = false;
};
std::vector<RecordPart> RecordParts(const TableSpec& spec);

// The name of slot `slot` of a variable: "fm_v@adam_m".
std::string SlotTensorName(absl::string_view variable, absl::string_view slot);

}  // namespace shoal

#endif  // SHOAL_PS_TABLE_RECORD_PARTS_H_
