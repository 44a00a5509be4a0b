#include "cluster/running_auc.h"

#include <algorithm>
#include <limits>

namespace shoal {
namespace {

constexpr float kLowest = -16;
constexpr float kBinsPerLogit = 128;

}  // namespace

void RunningAuc::Add(absl::Span<const ScoredExample> examples) {
  if (bins_.empty()) bins_.resize(kBins);
  for (const ScoredExample& example : examples) {
    const float place = (example.score - kLowest) * kBinsPerLogit;
    const float last = static_cast<float>(kBins - 1);
    // A score that is not a number counts as the lowest.
    const float bin = place > 0 ? std::min(place, last) : 0;
    ++bins_[static_cast<size_t>(bin)].of_label[example.label != 0 ? 1 : 0];
  }
}

double RunningAuc::Auc() const {
  double pairs_won = 0;
  double negatives = 0;
  double positives = 0;
  for (const Bin& bin : bins_) {
    const auto below = static_cast<double>(bin.of_label[0]);
    const auto above = static_cast<double>(bin.of_label[1]);
    pairs_won += above * (negatives + below / 2);
    negatives += below;
    positives += above;
  }
  if (positives == 0 || negatives == 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return pairs_won / (positives * negatives);
}

}  // namespace shoal
