#include "bench/compare/cell_mode.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "report/mode_style.h"

namespace shoal {

const TrainingModeRow* FindModeRow(absl::string_view word) {
  const auto row = std::find_if(
      std::begin(kTrainingModes), std::end(kTrainingModes),
      [&](const TrainingModeRow& entry) { return word == entry.word; });
  return row == std::end(kTrainingModes) ? nullptr : row;
}

const TrainingModeRow& ModeRowOf(const Cell& cell) {
  const TrainingModeRow* const row = FindModeRow(cell.mode);
  SHOAL_DCHECK(row != nullptr);
  return *row;
}

std::string ModeWord(absl::string_view mode, int backup_workers) {
  return backup_workers == 0 ? std::string(mode)
                             : absl::StrCat(mode, "+", backup_workers);
}

std::string ModeWord(const Cell& cell) {
  return ModeWord(cell.mode, cell.backup_workers);
}

std::string ModeName(const Cell& cell) {
  const TrainingModeRow* const row = FindModeRow(cell.mode);
  if (row != nullptr && row->value == TrainingMode::kSsp) {
    return absl::StrCat(ModeWord(cell), " (bound ", cell.ssp_bound, ")");
  }
  return ModeWord(cell);
}

int ModeOrder(const Cell& cell) {
  const TrainingModeRow* const row = FindModeRow(cell.mode);
  return static_cast<int>(
      (row == nullptr ? std::end(kTrainingModes) : row) -
      std::begin(kTrainingModes));
}

int ModeStyle(const Cell& cell) {
  return ModeStyle(cell.mode, cell.backup_workers > 0);
}

}  // namespace shoal
