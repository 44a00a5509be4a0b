#ifndef SHOAL_CORE_BINARY_METRICS_H_
#define SHOAL_CORE_BINARY_METRICS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "core/score_metrics.h"

namespace shoal {

// Clicks: C = 1 score, the logit z of the chance σ(z) = 1 / (1 + exp(-z)) that
// the label y, 0 or 1, is 1. The loss is log(1 + exp(z)) - y z; the calibration
// is Σ σ(z) over Σ y; the AUC ranks each example by z, with NaN as the lowest;
// the prediction is σ(z). Formulas: core/metrics.h.
class BinaryMetrics final : public ScoreMetrics {
 public:
  int num_scores() const override { return 1; }
  int num_labels() const override { return 2; }
  void Sum(absl::Span<const float> scores, absl::Span<const uint8_t> labels,
           ScoreSums* sums) const override;
  int num_ranked() const override { return 1; }
  void AppendRanked(absl::Span<const float> scores,
                    absl::Span<const uint8_t> labels,
                    std::vector<ScoredExample>* ranked) const override;
  void Predict(absl::Span<const float> scores,
               absl::Span<float> predictions) const override;
};

inline constexpr BinaryMetrics kBinaryMetrics{};

}  // namespace shoal

#endif  // SHOAL_CORE_BINARY_METRICS_H_
