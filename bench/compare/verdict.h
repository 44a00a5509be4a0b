#ifndef SHOAL_BENCH_COMPARE_VERDICT_H_
#define SHOAL_BENCH_COMPARE_VERDICT_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/compare/cell.h"
#include "plan/calibration.h"

namespace shoal {

// Makes a calibration of the planner from the cells of a model on `hosts` hosts
// and fewer, or says why they do not suffice.
using Calibrate = std::function<absl::StatusOr<Calibration>(
    const Comparison& comparison, const std::string& model, int hosts)>;

// What the comparison says about the cells that are alike but for the mode, in
// words, by the rules that each verdict prints. Cells that are grey are left
// out and named. Of two cells whose spreads (least to most of their runs)
// overlap, none is faster. A verdict with a best mode also has what the planner
// predicts of other bandwidths (verdict_turn.h), from the calibration of the
// model. Pure.
std::vector<ModeVerdict> VerdictsOf(const Comparison& comparison,
                                    const Calibrate& calibrate);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_VERDICT_H_
