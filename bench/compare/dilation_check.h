#ifndef SHOAL_BENCH_COMPARE_DILATION_CHECK_H_
#define SHOAL_BENCH_COMPARE_DILATION_CHECK_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "bench/compare/cell.h"

namespace shoal {

// Does a lab say the same when it is slower? A mode on some number of hosts is
// also tried at twice its dilation, on the first model, batch and network. It
// differs if the samples/s do, by their medians, and their spreads do not
// overlap: this machine is then too small to play these hosts at the dilation
// that they have. Modes that are compared have one dilation, so then the cells
// of all modes on so many hosts are played at twice their dilation; a cell that
// is played as slowly as the try already stays as it is. Each mode is tried
// again, at four times the first dilation. One that differs from itself there
// too is out of verdicts on so many hosts. Pure.

// A difference above this share is one.
inline constexpr double kDilationTolerance = .05;
// The first repeat has one try. While the median differs, or none counts, each
// repeat that follows has one more, and what is missing then comes at the end:
// so many at most. Of a cell that is measured slower, the first so many runs
// are its tries, whether the check or the measurement asked for them.
inline constexpr int kDilationTries = 3;

// The cell at twice its dilation, with "_twice" after its name and without
// runs.
Cell AtTwiceTheDilation(Cell cell);

// The cells to try, at twice their dilation: the first one of each mode and
// number of hosts, computed or replayed, without a straggler. Those that
// cannot be played are left out.
std::vector<Cell> CellsAtTwiceTheDilation(const std::vector<Cell>& cells);

// Whether the cell has the mode and the hosts of `at_twice`, and so is judged
// by it.
bool IsJudgedBy(const Cell& cell, const Cell& at_twice);
// Whether both have as many hosts, which are computed or replayed in both.
bool IsBeside(const Cell& cell, const Cell& other);
// Whether the cell is beside `at_twice`, and is played faster than it. Cells
// that are played as slow already, for a faster network, need not be slower.
bool IsPlayedFaster(const Cell& cell, const Cell& at_twice);
// Whether `at_twice` was made from this cell.
bool IsTwinOf(const Cell& cell, const Cell& at_twice);

// The median samples/s at twice the dilation, in comparison to the median of
// `cell`: -0.03 if it is 3 % less. Disturbed runs do not count. nullopt: one of
// the two has no run that counts.
std::optional<double> DilationDifference(const Cell& cell,
                                         const Cell& at_twice);

// Whether a cell at twice its dilation needs one more run beside those that it
// has: it has none, or their median differs or they were disturbed, and they
// are fewer than kDilationTries.
bool NeedsAnotherTry(const Cell& cell, const Cell& at_twice);

// Whether the mode and hosts of `at_twice` differ, and can be tried at twice
// its dilation, and those beside it in `cells` that are faster can be played at
// twice theirs.
bool ShouldBeSlower(const Cell& at_twice, const std::vector<Cell>& cells);

// Puts the difference, what it says, and the reason to grey them, into the
// cells of the mode and hosts of `at_twice`, also into those with a straggler.
// A cell that is grey already keeps its reason. `note` follows the reason.
void JudgeDilation(const Cell& at_twice, absl::string_view note,
                   std::vector<Cell>* cells);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_DILATION_CHECK_H_
