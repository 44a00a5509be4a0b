#include "core/binary_metrics.h"

#include <cmath>
#include <limits>

#include "base/check.h"

namespace shoal {

void BinaryMetrics::Sum(absl::Span<const float> scores,
                        absl::Span<const uint8_t> labels,
                        ScoreSums* sums) const {
  SHOAL_DCHECK(scores.size() == labels.size());
  for (size_t i = 0; i < labels.size(); ++i) {
    SHOAL_DCHECK(labels[i] <= 1);
    sums->loss += LogLoss(scores[i], labels[i]);
    sums->predicted += Probability(scores[i]);
    sums->positives += labels[i];
  }
}

void BinaryMetrics::AppendRanked(absl::Span<const float> scores,
                                 absl::Span<const uint8_t> labels,
                                 std::vector<ScoredExample>* ranked) const {
  SHOAL_DCHECK(scores.size() == labels.size());
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  for (size_t i = 0; i < labels.size(); ++i) {
    // NaN has no order: it would break the sort and never tie with itself.
    ranked->push_back({std::isnan(scores[i]) ? kLowest : scores[i], labels[i]});
  }
}

void BinaryMetrics::Predict(absl::Span<const float> scores,
                            absl::Span<float> predictions) const {
  SHOAL_DCHECK(scores.size() == predictions.size());
  for (size_t i = 0; i < scores.size(); ++i) {
    predictions[i] = std::isnan(scores[i])
                         ? scores[i]
                         : static_cast<float>(Probability(scores[i]));
  }
}

}  // namespace shoal
