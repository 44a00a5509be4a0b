#ifndef SHOAL_BENCH_CALIBRATE_COMPARISON_CALIBRATION_H_
#define SHOAL_BENCH_CALIBRATE_COMPARISON_CALIBRATION_H_

#include <string>

#include "absl/status/statusor.h"
#include "bench/compare/cell.h"
#include "plan/calibration.h"

namespace shoal {

// Which cells of a comparison are the measurements of a plan.
struct CalibrationChoice {
  std::string model;  // "": the only one of the comparison
  // Cells of more hosts are left out, as in a plan that is compared with them.
  // A plan for the comparison's own cells takes all.
  int most_hosts = 2;
};

// What the cells of a comparison tell the planner: those that trained, with all
// hosts at one speed, without backup workers, and that are not grey. Of a
// cell's processor times, bytes, memory and speed the medians of its runs
// count, of its step times and distinct ids the means.
//
// Distinct ids are those that the comparison counted in the data. Where it
// could not, or is of an older version, they are those of a batch that follow
// from the formula of a cell's bytes, or else from the bytes that were
// measured; how ids grow with several batches is then not known
// (Calibration::IdsOf). Without a cell of one host the spread of step times is
// the usual one.
//
//   SHOAL_ASSIGN_OR_RETURN(const Comparison comparison,
//                          ReadComparison(files, "out/compare.json"));
//   SHOAL_ASSIGN_OR_RETURN(const Calibration calibration,
//                          CalibrationOf(comparison, {.model = "A"}));
//
// INVALID_ARGUMENT says which cells are missing, or which models there are.
absl::StatusOr<Calibration> CalibrationOf(const Comparison& comparison,
                                          const CalibrationChoice& choice);

}  // namespace shoal

#endif  // SHOAL_BENCH_CALIBRATE_COMPARISON_CALIBRATION_H_
