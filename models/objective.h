#ifndef SHOAL_MODELS_OBJECTIVE_H_
#define SHOAL_MODELS_OBJECTIVE_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/score_metrics.h"
#include "models/backend/backend.h"

namespace shoal {

// SEAM: the quantity that a model is trained to predict. An objective owns the
// shape of the scores, their loss, the gradient of the loss, and the figures
// that judge the scores. A model's row (models/model_table.h) names its
// objective; nothing else in a job depends on which objective it is.
//
//   double sum = objective.Loss(scores, labels, backend);
//   objective.LossGradient(scores, labels, 1.0f / B, backend, d_scores);
//   objective.metrics().Sum(scores, labels, &sums);  // sums.loss is that sum
//
// Shapes: `scores` and `d_scores` are B × C, C = num_scores(), one example
// after the other; `labels` are B, in [0, metrics().num_labels()). An objective
// is a constant, so it is thread-safe.
class Objective {
 public:
  absl::string_view name() const { return name_; }

  // The shape of the scores, their AUC, logloss and calibration, and the
  // predictions, all in double and without a backend.
  const ScoreMetrics& metrics() const { return *metrics_; }
  int num_scores() const { return metrics().num_scores(); }  // C

  // The SUM of the loss over the examples, in double.
  virtual double Loss(absl::Span<const float> scores,
                      absl::Span<const uint8_t> labels,
                      Backend* backend) const = 0;

  // d_scores = the gradient of Loss(scores, labels) times `scale`, overwritten.
  // With `scale` 1/B it is the gradient of the mean loss.
  virtual void LossGradient(absl::Span<const float> scores,
                            absl::Span<const uint8_t> labels, float scale,
                            Backend* backend,
                            absl::Span<float> d_scores) const = 0;

 protected:
  // Both must outlive the objective.
  constexpr Objective(absl::string_view name, const ScoreMetrics* metrics)
      : name_(name), metrics_(metrics) {}
  ~Objective() = default;  // no owner deletes through this type

 private:
  const absl::string_view name_;
  const ScoreMetrics* const metrics_;
};

}  // namespace shoal

#endif  // SHOAL_MODELS_OBJECTIVE_H_
