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
  // The calibration is `predicted` over `positives`. An objective without a
  // calibration leaves both at 0.
  double predicted = 0;
  uint64_t positives = 0;
};

// SEAM: how the scores of a model are judged, and what they predict. For code
// that does not see the model: the coordinator, a worker's progress, the
// predictions file. Each objective (models/objective.h) has one ScoreMetrics.
//
//   metrics.Sum(scores, labels, &sums);      // sums.loss / n: the logloss
//   metrics.AppendRanked(scores, labels, &ranked);
//   double auc = ExactAuc(std::move(ranked));
//
// Shapes: `scores` are n × C of n examples, one example after the other;
// `labels` are n. A constant without state; thread-safe.
class ScoreMetrics {
 public:
  // C: the number of scores of one example, at least 1.
  virtual int num_scores() const = 0;
  // Labels are 0 … num_labels() - 1. From 2 to kMostLabels (core/label.h).
  virtual int num_labels() const = 0;

  // Adds the examples to `sums`. REQUIRES: labels are in range.
  virtual void Sum(absl::Span<const float> scores,
                   absl::Span<const uint8_t> labels, ScoreSums* sums) const = 0;

  // R: the number of entries that one example has in the ranking of the AUC, at
  // least 1.
  virtual int num_ranked() const = 0;
  // Appends the n × R entries that the AUC ranks, or none if the scores are not
  // measured (UnmeasuredMetrics). No score among them is NaN.
  // REQUIRES: labels are in range.
  virtual void AppendRanked(absl::Span<const float> scores,
                            absl::Span<const uint8_t> labels,
                            std::vector<ScoredExample>* ranked) const = 0;

  // Overwrites `predictions` with the n × C predictions of the scores; NaN
  // where the score is NaN.
  virtual void Predict(absl::Span<const float> scores,
                       absl::Span<float> predictions) const = 0;

 protected:
  ~ScoreMetrics() = default;  // never owned by this type
};

}  // namespace shoal

#endif  // SHOAL_CORE_SCORE_METRICS_H_
