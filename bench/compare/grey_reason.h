#ifndef SHOAL_BENCH_COMPARE_GREY_REASON_H_
#define SHOAL_BENCH_COMPARE_GREY_REASON_H_

#include <string>

#include "bench/compare/cell.h"

namespace shoal {

// A stream that is not within this share of StreamRate (dilation.h) greys its
// cell.
inline constexpr double kLinkTolerance = .03;
// More cores than these, used by others during a run, grey its cell.
inline constexpr double kOthersMost = .15;

// Why a run puts its cell out of verdicts, or "".
std::string GreyReason(const CellRun& run);

// Why the cell is out of verdicts, by its runs (docs/comparing.md): a run
// failed, the link was of another rate just before it, others used the machine,
// or its paused speed is not known; "" if none of that is so. Whether a cell
// differs from itself at twice its dilation is known to dilation_check.h.
std::string GreyReason(const Cell& cell);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_GREY_REASON_H_
