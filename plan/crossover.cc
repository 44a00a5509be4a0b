#include "plan/crossover.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/counted.h"
#include "plan/prediction.h"

namespace shoal {
namespace {

// Steps of the search, and the precision of what it finds.
constexpr double kStep = 1.25;
constexpr double kPrecision = 1.01;

}  // namespace

const ModeShape* FastestMode(const std::vector<const ModeShape*>& modes,
                             const Calibration& calibration,
                             const PlannedJob& job,
                             const ClusterDescription& cluster, int hosts,
                             const ModeShape* instead_of) {
  const ModeShape* fastest = nullptr;
  double most = 0;
  for (const ModeShape* const mode : modes) {
    const Prediction p = Predict(*mode, calibration, job, cluster, hosts);
    if (!p.fits) continue;
    const double rate =
        p.samples_per_second * (mode == instead_of ? 1 + kClearLead : 1);
    if (rate > most) {
      fastest = mode;
      most = rate;
    }
  }
  return fastest;
}

std::vector<Crossover> CrossoversOf(const std::vector<const ModeShape*>& modes,
                                    const Calibration& calibration,
                                    const PlannedJob& job,
                                    ClusterDescription cluster, int hosts) {
  std::vector<Crossover> found;
  const ModeShape* fastest = nullptr;
  const auto fastest_at = [&](double bits) {
    cluster.bits_per_second = bits;
    return FastestMode(modes, calibration, job, cluster, hosts, fastest);
  };
  double bits = kLeastBits;
  fastest = fastest_at(bits);
  while (fastest != nullptr && bits < kMostBits) {
    double high = std::min(bits * kStep, kMostBits);
    if (fastest_at(high) != fastest) {
      double low = bits;
      while (high / low > kPrecision) {
        const double middle = std::sqrt(low * high);
        (fastest_at(middle) == fastest ? low : high) = middle;
      }
      // There may be another change in the same step, above this one.
      const ModeShape* const then = fastest_at(high);
      found.push_back(
          {hosts, fastest, then, high,
           Predict(*fastest, calibration, job, cluster, hosts).extrapolated ||
               Predict(*then, calibration, job, cluster, hosts).extrapolated});
      fastest = then;
    }
    bits = high;
  }
  return found;
}

std::string CrossoverText(const Crossover& c) {
  return absl::StrCat(c.to->name, " overtakes ", c.from->name, " above ",
                      NetworkText(c.bits_per_second), " at ",
                      Counted(c.hosts, "host"));
}

NeededBits BitsForEfficiency(const ModeShape& mode,
                             const Calibration& calibration,
                             const PlannedJob& job, ClusterDescription cluster,
                             int hosts, double share) {
  const auto at = [&](double bits) {
    cluster.bits_per_second = bits;
    return Predict(mode, calibration, job, cluster, hosts);
  };
  const auto enough = [&](double bits) {
    const Prediction prediction = at(bits);
    return prediction.fits && prediction.efficiency >= share;
  };
  if (!enough(kMostBits)) return {std::nullopt, at(kMostBits).extrapolated};
  double low = kLeastBits;
  double high = kMostBits;
  if (enough(low)) high = low;
  while (high / low > kPrecision) {
    const double middle = std::sqrt(low * high);
    (enough(middle) ? high : low) = middle;
  }
  return {high, at(high).extrapolated};
}

}  // namespace shoal
