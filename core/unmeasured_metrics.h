#ifndef SHOAL_CORE_UNMEASURED_METRICS_H_
#define SHOAL_CORE_UNMEASURED_METRICS_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "core/score_metrics.h"

namespace shoal {

// The metrics of scores that no model has computed: shapes and labels are those
// of `real`, and nothing is ranked or summed, so AUC, loss and calibration are
// those of no examples, and every prediction is NaN.
class UnmeasuredMetrics final : public ScoreMetrics {
 public:
  // `real` must outlive the metrics.
  explicit constexpr UnmeasuredMetrics(const ScoreMetrics* real)
      : real_(real) {}

  int num_scores() const override { return real_->num_scores(); }
  int num_labels() const override { return real_->num_labels(); }
  void Sum(absl::Span<const float>, absl::Span<const uint8_t>,
           ScoreSums*) const override {}
  int num_ranked() const override { return real_->num_ranked(); }
  void AppendRanked(absl::Span<const float>, absl::Span<const uint8_t>,
                    std::vector<ScoredExample>*) const override {}
  void Predict(absl::Span<const float>,
               absl::Span<float> predictions) const override {
    std::fill(predictions.begin(), predictions.end(),
              std::numeric_limits<float>::quiet_NaN());
  }

 private:
  const ScoreMetrics* const real_;
};

}  // namespace shoal

#endif  // SHOAL_CORE_UNMEASURED_METRICS_H_
