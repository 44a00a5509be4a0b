#ifndef SHOAL_PLAN_MODE_LEAD_H_
#define SHOAL_PLAN_MODE_LEAD_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plan/calibration.h"
#include "plan/cluster_description.h"
#include "plan/crossover.h"

namespace shoal {

// Two modes on so many hosts of which everything but the network is given. The
// model is that of the calibration.
struct LeadQuestion {
  std::string mode;   // as --mode
  std::string other;  // as --mode
  int hosts = 1;
  double batch_size = 0;  // of one worker; 0: the batch of the calibration
  // Of a host; 0: the most of the calibration, or 2 if it has none.
  double cores = 0;
  int ssp_bound = -1;  // below 0: that of the calibration
  double latency_seconds = ClusterDescription::kUsualLatency;
};

struct PredictedLead {
  // Samples a second of `mode` ÷ those of `other`: 1.03 if it is 3 % faster.
  double ratio = 1;
  // One of the two predictions lies outside of what was measured.
  bool extrapolated = false;

  bool is_clear() const { return ratio >= 1 + kClearLead; }
};

// Asks the planner how two modes compare over links of this bandwidth. It
// predicts speed alone, never the quality of the model. INVALID_ARGUMENT: a
// mode that there is not, twice the same mode, or no host.
absl::StatusOr<PredictedLead> PredictLead(const Calibration& calibration,
                                          const LeadQuestion& question,
                                          double bits_per_second);

// Bandwidths next to each other at all of which a lead is clear. Its ends
// belong to it, and are exact to kPrecision.
struct LeadRange {
  static constexpr double kPrecision = 1.01;

  std::optional<double> from;  // nullopt: kLeastBits
  std::optional<double> to;    // nullopt: kMostBits
  // A prediction at one of the ends that it has is.
  bool extrapolated = false;

  bool StartsAbove(double bits) const {
    return from.has_value() && *from > bits * kPrecision;
  }
  bool EndsBelow(double bits) const {
    return to.has_value() && *to < bits / kPrecision;
  }
  bool Covers(double bits) const {
    return !StartsAbove(bits) && !EndsBelow(bits);
  }
};

struct ModeLeads {
  // Ascending. A range that is narrower than 5 % of its bandwidth may lack.
  std::vector<LeadRange> ranges;
  // A prediction at any of the bandwidths that were looked at is.
  bool extrapolated = false;
};

// Where, between kLeastBits and kMostBits, `mode` has a clear lead over
// `other`. Errors as PredictLead has.
//
//   SHOAL_ASSIGN_OR_RETURN(const Calibration calibration,
//                          CalibrationOf(comparison, {.model = "A"}));
//   const auto leads = FindLeads(
//       calibration, {.mode = "async", .other = "ring", .hosts = 4});
absl::StatusOr<ModeLeads> FindLeads(const Calibration& calibration,
                                    const LeadQuestion& question);

}  // namespace shoal

#endif  // SHOAL_PLAN_MODE_LEAD_H_
