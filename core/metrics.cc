#include "core/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace shoal {

double ExactAuc(absl::Span<const float> scores,
                absl::Span<const uint8_t> labels) {
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  std::vector<std::pair<float, uint8_t>> order(scores.size());
  for (size_t i = 0; i < scores.size(); ++i) {
    // NaN has no order: it would break the sort and never tie with itself.
    order[i] = {std::isnan(scores[i]) ? kLowest : scores[i], labels[i]};
  }
  std::sort(order.begin(), order.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  double pairs_won = 0;
  double negatives_below = 0;
  double positives = 0;
  for (size_t i = 0; i < order.size();) {
    double tied_positives = 0;
    double tied_negatives = 0;
    const float score = order[i].first;
    for (; i < order.size() && order[i].first == score; ++i) {
      (order[i].second != 0 ? tied_positives : tied_negatives) += 1;
    }
    pairs_won += tied_positives * (negatives_below + tied_negatives / 2);
    negatives_below += tied_negatives;
    positives += tied_positives;
  }
  if (positives == 0 || negatives_below == 0) return 0.5;
  return pairs_won / (positives * negatives_below);
}

double MeanLogLoss(absl::Span<const float> logits,
                   absl::Span<const uint8_t> labels) {
  double sum = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    const double z = logits[i];
    sum += std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z))) -
           (labels[i] != 0 ? z : 0.0);
  }
  return logits.empty() ? 0 : sum / static_cast<double>(logits.size());
}

}  // namespace shoal
