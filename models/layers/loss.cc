#include "models/layers/loss.h"

#include <cmath>

#include "base/check.h"

namespace shoal {

LossLayer::LossLayer(const Objective* objective, Backend* backend)
    : objective_(objective), backend_(backend) {}

double LossLayer::Forward(absl::Span<const float> scores,
                          absl::Span<const uint8_t> labels) {
  SHOAL_DCHECK(scores.size() == labels.size() * objective_->num_scores());
  return objective_->Loss(scores, labels, backend_);
}

absl::Span<float> LossLayer::Backward(absl::Span<const float> scores,
                                      absl::Span<const uint8_t> labels,
                                      double divisor) {
  SHOAL_DCHECK(std::isfinite(divisor) && divisor > 0);
  SHOAL_DCHECK(scores.size() == labels.size() * objective_->num_scores());
  d_scores_.ResizeDiscard(scores.size());
  objective_->LossGradient(scores, labels, 1.0f / static_cast<float>(divisor),
                           backend_, d_scores_.span());
  return d_scores_.span();
}

}  // namespace shoal
