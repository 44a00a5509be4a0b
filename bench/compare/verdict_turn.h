#ifndef SHOAL_BENCH_COMPARE_VERDICT_TURN_H_
#define SHOAL_BENCH_COMPARE_VERDICT_TURN_H_

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/compare/cell.h"
#include "plan/calibration.h"

namespace shoal {

// Where a verdict would turn, as a verdict says it: texts without a full stop.
struct VerdictTurn {
  // "from about 6 Gbit/s on, ring would be faster than async". Empty: nothing
  // can be said, and `missing` says why.
  std::string text;
  // Why nothing is said of some modes or of all. Empty: all is said.
  std::string missing;
};

// What readers have to know of every such text.
inline constexpr char kTurnRule[] =
    "What is predicted was not measured: it is what shoal plan says of other "
    "bandwidths, calibrated on the computed cells of this comparison. It is of "
    "samples/s alone, never of AUC, and of the modes alone that it names. "
    "Another mode counts as faster from 3 % on. "
    "Extrapolated: outside of what was measured.";

// What was measured on other networks: for each on which another mode than the
// best one is clearly faster, the fastest such mode. "at 10gbit async trains
// 1.10 times as many samples a second as hybrid". `elsewhere` has cells that
// differ from those of the best one's verdict in their network alone.
std::vector<std::string> FasterElsewhere(
    const Cell& best, const std::vector<const Cell*>& elsewhere);

// Asks the planner (plan/mode_lead.h) at which bandwidth another mode than the
// best one would be faster. It speaks of samples/s, whatever made the mode the
// best: a mode that is faster already, though it reaches the target later, is
// left out. So is a mode that the planner takes for faster on the measured
// network, where it was not, or for equally fast, where it was clearly slower,
// and one of which another measured network says
// something else: one of the two has a clear lead there, which the planner, or
// its search for turns, does not see; or the planner takes the other mode for
// faster there, where the two do not differ. A prediction that is wrong where
// it can be checked is no guide elsewhere. Thread-compatible.
class TurnFinder {
 public:
  // The calibration for a model on so many hosts, or why there is none.
  using CalibrateModel = std::function<absl::StatusOr<Calibration>(
      const std::string& model, int hosts)>;

  explicit TurnFinder(CalibrateModel calibrate)
      : calibrate_(std::move(calibrate)) {}

  // `best` beside the other cells of its verdict: those that are behind it, and
  // those that do not differ from it, though they may elsewhere. `elsewhere`
  // has cells that differ from those in their network alone.
  VerdictTurn Find(const Cell& best, const std::vector<const Cell*>& behind,
                   const std::vector<const Cell*>& level,
                   const std::vector<const Cell*>& elsewhere);

 private:
  const absl::StatusOr<Calibration>& CalibrationOf(const Cell& cell);

  const CalibrateModel calibrate_;
  // By model and hosts.
  std::map<std::pair<std::string, int>, absl::StatusOr<Calibration>>
      calibrations_;
};

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_VERDICT_TURN_H_
