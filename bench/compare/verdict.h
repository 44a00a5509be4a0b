#ifndef SHOAL_BENCH_COMPARE_VERDICT_H_
#define SHOAL_BENCH_COMPARE_VERDICT_H_

#include <optional>
#include <string>
#include <vector>

#include "bench/compare/cell.h"

namespace shoal {

// Why the cell is out of verdicts, by its runs (docs/comparing.md): a run
// failed, the link was of another rate just before it, or others used the
// machine; "" if none of that is so.
std::string GreyReason(const Cell& cell);

// What the comparison says about each model, network, number of hosts and
// batch, in words, by the rules that each verdict prints. Cells that are grey
// are left out and named. Of two cells whose spreads (least to most of their
// runs) overlap, none is faster. Pure.
std::vector<ModeVerdict> VerdictsOf(const Comparison& comparison);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_VERDICT_H_
