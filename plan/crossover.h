#ifndef SHOAL_PLAN_CROSSOVER_H_
#define SHOAL_PLAN_CROSSOVER_H_

#include <optional>
#include <string>
#include <vector>

#include "plan/calibration.h"
#include "plan/cluster_description.h"
#include "plan/mode_shape.h"
#include "plan/step_demand.h"

namespace shoal {

// The bandwidths that are looked at, in bits a second.
inline constexpr double kLeastBits = 1e8;
inline constexpr double kMostBits = 4e11;

// A bandwidth at which another mode becomes the fastest, for one number of
// hosts.
struct Crossover {
  int hosts = 0;
  const ModeShape* from = nullptr;  // the fastest below
  const ModeShape* to = nullptr;    // the fastest above
  double bits_per_second = 0;
  // One of the two predictions lies outside what was measured.
  bool extrapolated = false;
};

// The mode with the most samples a second among those that fit into memory;
// nullptr if none does. `instead_of`, if it is given and fits, stays the
// fastest until another one is kClearLead ahead, so that a list of changes has
// none that is smaller than the error of a prediction.
inline constexpr double kClearLead = .03;
const ModeShape* FastestMode(const std::vector<const ModeShape*>& modes,
                             const Calibration& calibration,
                             const PlannedJob& job,
                             const ClusterDescription& cluster, int hosts,
                             const ModeShape* instead_of = nullptr);

// Where another mode becomes the fastest, by kClearLead, between kLeastBits and
// kMostBits, ascending; each is exact to 1 %.
std::vector<Crossover> CrossoversOf(const std::vector<const ModeShape*>& modes,
                                    const Calibration& calibration,
                                    const PlannedJob& job,
                                    ClusterDescription cluster, int hosts);

// "ring overtakes async above 6 Gbit/s at 4 hosts"
std::string CrossoverText(const Crossover& crossover);

// What a search over bandwidths found.
struct NeededBits {
  // nullopt: not even kMostBits is enough, or the mode does not fit into the
  // memory of the hosts.
  std::optional<double> bits_per_second;
  // As Prediction::extrapolated, at this bandwidth, or at kMostBits.
  bool extrapolated = false;
};

// The least bandwidth from which `hosts` hosts have at least `share` of the
// speed of as many times one host.
NeededBits BitsForEfficiency(const ModeShape& mode,
                             const Calibration& calibration,
                             const PlannedJob& job, ClusterDescription cluster,
                             int hosts, double share);

}  // namespace shoal

#endif  // SHOAL_PLAN_CROSSOVER_H_
