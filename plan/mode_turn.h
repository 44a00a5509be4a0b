#ifndef SHOAL_PLAN_MODE_TURN_H_
#define SHOAL_PLAN_MODE_TURN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plan/calibration.h"
#include "plan/crossover.h"
#include "plan/mode_shape.h"

namespace shoal {

// Two modes on so many hosts of which everything but the network is given.
struct TurnQuestion {
  std::string mode;   // as --mode; the order of the two does not matter
  std::string other;  // as --mode
  int hosts = 1;
  double batch_size = 0;  // of one worker; 0: the batch of the calibration
  // Of a host; 0: the most of the calibration, or 2 if it has none.
  double cores = 0;
  int ssp_bound = -1;     // below 0: that of the calibration
  double latency_seconds = 60e-6;
};

// Where the order of two modes turns.
struct ModeTurn {
  // Ascending; empty: it does not between kLeastBits and kMostBits.
  std::vector<Crossover> crossovers;
  // Without a crossover: the mode that is faster by kClearLead at some
  // bandwidth, while the other one is so at none. nullptr: neither is, or
  // there are crossovers.
  const ModeShape* ahead = nullptr;
  // True: `text` speaks of hosts, bandwidths or batches that the calibration
  // did not measure, and says so.
  bool extrapolated = false;
  // For people, without a full stop: "async overtakes ring above 6 Gbit/s at 4
  // hosts (extrapolated)", several of them joined by "; ", or "async is faster
  // than ring at every bandwidth from 0.1 to 400 Gbit/s at 4 hosts".
  std::string text;
};

// Asks the planner at which bandwidth one of two modes becomes faster than the
// other one by kClearLead. The model is that of the calibration. It predicts
// speed alone, never the quality of the model. INVALID_ARGUMENT: a mode that
// there is not, twice the same mode, or no host; a single host has no network
// and so no turn, which is said in `text`.
//
//   SHOAL_ASSIGN_OR_RETURN(const Calibration calibration,
//                          CalibrationOf(comparison, {.model = "A"}));
//   const auto turn = FindModeTurn(
//       calibration, {.mode = "async", .other = "ring", .hosts = 4});
absl::StatusOr<ModeTurn> FindModeTurn(const Calibration& calibration,
                                      const TurnQuestion& question);

// Samples a second of `question.mode` at this bandwidth, in comparison to those
// of `question.other`: 1.03 if it is 3 % faster. Errors as FindModeTurn has.
absl::StatusOr<double> PredictedRatio(const Calibration& calibration,
                                      const TurnQuestion& question,
                                      double bits_per_second);

}  // namespace shoal

#endif  // SHOAL_PLAN_MODE_TURN_H_
