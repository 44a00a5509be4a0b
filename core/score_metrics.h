#ifndef SHOAL_CORE_SCORE_METRICS_H_
#define SHOAL_CORE_SCORE_METRICS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "core/metrics.h"

namespace shoal {

// Sums over examples, in their order.
struct ScoreSums {
  double loss = 0;
  // The calibration is the first over the second; an objective without one
  // leaves both at 0.
  double predicted = 0;
  uint64_t positives = 0;
};

// SEAM: how the scores of a model are judged and what they predict, for those
// who see no model: the coordinator, a worker's progress, the predictions file.
// Each objective (models/objective.h) has one.
//
//   metrics.Sum(scores, labels, &sums);      // sums.loss / n: the logloss
//   metrics.AppendRanked(scores, labels, &ranked);
//   double auc = ExactAuc(std::move(ranked));
//
// Shapes: `scores` are n × C of n examples, one example after the other;
// `labels` are n. A constant without state; thread-safe.
class ScoreMetrics {
 public:
  // C: the scores of one example, at least 1.
  virtual int num_scores() const = 0;
  // Labels are 0 … num_labels() - 1.
  virtual int num_labels() const = 0;

  // Adds the examples to `sums`. REQUIRES: labels are in range.
  virtual void Sum(absl::Span<const float> scores,
                   absl::Span<const uint8_t> labels, ScoreSums* sums) const = 0;

  // R: what the AUC ranks of one example, at least 1.
  virtual int num_ranked() const = 0;
  // Appends what the AUC ranks: n × R, of which none is NaN. REQUIRES: labels
  // are in range.
  virtual void AppendRanked(absl::Span<const float> scores,
                            absl::Span<const uint8_t> labels,
                            std::vector<ScoredExample>* ranked) const = 0;

  // The predictions that the scores make, n × C, overwritten; NaN where the
  // score is.
  virtual void Predict(absl::Span<const float> scores,
                       absl::Span<float> predictions) const = 0;

 protected:
  ~ScoreMetrics() = default;  // never owned by this type
};

}  // namespace shoal

#endif  // SHOAL_CORE_SCORE_METRICS_H_
