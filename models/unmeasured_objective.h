#ifndef SHOAL_MODELS_UNMEASURED_OBJECTIVE_H_
#define SHOAL_MODELS_UNMEASURED_OBJECTIVE_H_

#include <cstdint>

#include "absl/types/span.h"
#include "core/unmeasured_metrics.h"
#include "models/objective.h"

namespace shoal {

// The objective of scores that no model has computed: loss and gradient are
// those of `real`, and there are no figures (core/unmeasured_metrics.h).
class UnmeasuredObjective final : public Objective {
 public:
  // `real` must outlive the objective.
  explicit UnmeasuredObjective(const Objective* real)
      : Objective(real->name(), &metrics_),
        real_(real),
        metrics_(&real->metrics()) {}
  UnmeasuredObjective(const UnmeasuredObjective&) = delete;
  UnmeasuredObjective& operator=(const UnmeasuredObjective&) = delete;

  double Loss(absl::Span<const float> scores, absl::Span<const uint8_t> labels,
              Backend* backend) const override {
    return real_->Loss(scores, labels, backend);
  }
  void LossGradient(absl::Span<const float> scores,
                    absl::Span<const uint8_t> labels, float scale,
                    Backend* backend,
                    absl::Span<float> d_scores) const override {
    real_->LossGradient(scores, labels, scale, backend, d_scores);
  }

 private:
  const Objective* const real_;
  const UnmeasuredMetrics metrics_;
};

}  // namespace shoal

#endif  // SHOAL_MODELS_UNMEASURED_OBJECTIVE_H_
