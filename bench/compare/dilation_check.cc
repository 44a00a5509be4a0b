#include "bench/compare/dilation_check.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/counted.h"
#include "bench/compare/cell_figures.h"
#include "bench/compare/cell_mode.h"
#include "bench/compare/dilation.h"
#include "bench/compare/grey_reason.h"

namespace shoal {
namespace {

// Samples/s of the runs that were not disturbed; nullopt: there is none.
std::optional<FigureSpread> SpeedOf(const Cell& cell) {
  return SpreadOf(cell, [](const CellRun& run) {
    return GreyReason(run).empty() ? run.samples_per_second : std::nullopt;
  });
}

bool IsLarge(std::optional<double> difference) {
  return difference.has_value() &&
         std::abs(*difference) > kDilationTolerance;
}

bool Differs(const Cell& cell, const Cell& at_twice) {
  return IsLarge(DilationDifference(cell, at_twice)) &&
         !WidenedIfOne(*SpeedOf(cell))
              .Overlaps(WidenedIfOne(*SpeedOf(at_twice)));
}

// Cell::dilation_verdict.
std::string VerdictOf(const Cell& cell, const Cell& at_twice) {
  for (const CellRun& run : at_twice.runs) {
    if (!run.ok) return kTriedFailed;
  }
  const std::optional<double> difference = DilationDifference(cell, at_twice);
  return !difference.has_value()   ? kNotTried
         : !IsLarge(difference)    ? kTriedSame
         : Differs(cell, at_twice) ? kTriedDiffers
                                   : kTriedWithinSpread;
}

// Why the cells of a mode and number of hosts are grey after such a verdict, or
// "". `cell` was tried, and stands for those of other models and networks.
std::string Reason(const Cell& cell, const Cell& at_twice,
                   const std::string& verdict) {
  const std::string hosts =
      absl::StrCat(ModeName(cell), " on ", Counted(cell.hosts, "host"));
  const std::string model = absl::StrCat(
      "model ", cell.model,
      cell.network == "none" ? "" : absl::StrCat(" at ", cell.network));
  constexpr char kForAll[] = "which was tried for all models and networks";
  if (verdict == kTriedFailed) {
    const auto failed =
        std::find_if(at_twice.runs.begin(), at_twice.runs.end(),
                     [](const CellRun& run) { return !run.ok; });
    return absl::StrFormat(
        "%s failed when it was played twice as slow (%s, %s, at dilation "
        "%.3g): %s",
        hosts, model, kForAll, at_twice.dilation, failed->error);
  }
  if (verdict != kTriedDiffers) return "";
  const double difference = *DilationDifference(cell, at_twice);
  return absl::StrFormat(
      "the figures of %s depend on how slowly it is played: %s, %s, had %.0f "
      "%% %s samples/s at dilation %.3g than at %.3g",
      hosts, model, kForAll, 100 * std::abs(difference),
      difference < 0 ? "fewer" : "more", at_twice.dilation,
      at_twice.dilation / 2);
}

// The cell of `cells` that `at_twice` was made from, or nullptr.
const Cell* TwinOf(const Cell& at_twice, const std::vector<Cell>& cells) {
  for (const Cell& cell : cells) {
    if (IsTwinOf(cell, at_twice)) return &cell;
  }
  return nullptr;
}

}  // namespace

Cell AtTwiceTheDilation(Cell cell) {
  cell.dilation *= 2;
  cell.name += "_twice";
  cell.runs.clear();
  return cell;
}

std::vector<Cell> CellsAtTwiceTheDilation(const std::vector<Cell>& cells) {
  std::vector<Cell> twice;
  std::set<std::tuple<std::string, int, int, std::string>> seen;
  for (const Cell& cell : cells) {
    if (cell.model != cells.front().model || cell.straggler.has_value() ||
        !CheckPlayable(AtTwiceTheDilation(cell)).ok() ||
        !seen.insert({cell.mode, cell.backup_workers, cell.hosts, cell.compute})
             .second) {
      continue;
    }
    twice.push_back(AtTwiceTheDilation(cell));
  }
  return twice;
}

bool IsBeside(const Cell& cell, const Cell& other) {
  return cell.hosts == other.hosts && cell.compute == other.compute;
}

bool IsJudgedBy(const Cell& cell, const Cell& at_twice) {
  return IsBeside(cell, at_twice) && cell.mode == at_twice.mode &&
         cell.backup_workers == at_twice.backup_workers;
}

bool IsPlayedFaster(const Cell& cell, const Cell& at_twice) {
  return IsBeside(cell, at_twice) && cell.dilation < at_twice.dilation;
}

bool IsTwinOf(const Cell& cell, const Cell& at_twice) {
  return IsJudgedBy(cell, at_twice) && !cell.straggler.has_value() &&
         2 * cell.dilation == at_twice.dilation &&
         cell.model == at_twice.model && cell.network == at_twice.network &&
         cell.batch_size == at_twice.batch_size;
}

std::optional<double> DilationDifference(const Cell& cell,
                                         const Cell& at_twice) {
  const std::optional<FigureSpread> once = SpeedOf(cell);
  const std::optional<FigureSpread> twice = SpeedOf(at_twice);
  if (!once.has_value() || !twice.has_value() || once->median <= 0) {
    return std::nullopt;
  }
  return twice->median / once->median - 1;
}

bool NeedsAnotherTry(const Cell& cell, const Cell& at_twice) {
  const std::optional<double> difference = DilationDifference(cell, at_twice);
  return at_twice.runs.empty() ||
         (at_twice.runs.size() < kDilationTries &&
          (!difference.has_value() || IsLarge(difference)));
}

bool ShouldBeSlower(const Cell& at_twice, const std::vector<Cell>& cells) {
  const Cell* const twin = TwinOf(at_twice, cells);
  if (twin == nullptr || !Differs(*twin, at_twice)) return false;
  for (const CellRun& run : at_twice.runs) {
    if (!run.ok) return false;
  }
  return CheckPlayable(AtTwiceTheDilation(at_twice)).ok() &&
         std::all_of(cells.begin(), cells.end(), [&](const Cell& cell) {
           return !IsPlayedFaster(cell, at_twice) ||
                  CheckPlayable(AtTwiceTheDilation(cell)).ok();
         });
}

void JudgeDilation(const Cell& at_twice, absl::string_view note,
                   std::vector<Cell>* cells) {
  const Cell* const twin = TwinOf(at_twice, *cells);
  if (twin == nullptr || at_twice.runs.empty()) return;
  const std::optional<double> difference = DilationDifference(*twin, at_twice);
  const std::string verdict = VerdictOf(*twin, at_twice);
  std::string reason = Reason(*twin, at_twice, verdict);
  if (!reason.empty()) absl::StrAppend(&reason, note);
  for (Cell& cell : *cells) {
    if (!IsJudgedBy(cell, at_twice)) continue;
    cell.dilation_difference = difference;
    cell.dilation_verdict = verdict;
    if (cell.grey.empty()) cell.grey = reason;
  }
}

}  // namespace shoal
