#ifndef SHOAL_BENCH_COMPARE_CELL_MODE_H_
#define SHOAL_BENCH_COMPARE_CELL_MODE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "bench/compare/cell.h"
#include "core/training_mode.h"

namespace shoal {

// The mode of a cell: its row in the table of modes (core/training_mode.h),
// which says whether it has servers and copies, and its names. Pure.

// The row with this word; nullptr: there is no such mode.
const TrainingModeRow* FindModeRow(absl::string_view word);
// REQUIRES: cell.mode is the word of a mode, as in every cell that was read
// from a file or made by cell_grid.h. The functions below do without.
const TrainingModeRow& ModeRowOf(const Cell& cell);

// As an entry of --modes: "ssp", and "sync+1" with a backup worker.
std::string ModeWord(absl::string_view mode, int backup_workers);
std::string ModeWord(const Cell& cell);
// For people: as the word, but "ssp (bound 2)".
std::string ModeName(const Cell& cell);

// The place of the mode in the table, from 0: the order of tables and pictures.
// A mode that is not in the table comes last.
int ModeOrder(const Cell& cell);
// The style of charts for it, the same in all pictures (report/mode_style.h).
int ModeStyle(const Cell& cell);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_CELL_MODE_H_
