#ifndef SHOAL_MODELS_BINARY_OBJECTIVE_H_
#define SHOAL_MODELS_BINARY_OBJECTIVE_H_

#include <cstdint>

#include "absl/types/span.h"
#include "core/binary_metrics.h"
#include "models/objective.h"

namespace shoal {

// The objective of click prediction (logistic regression: Bishop, Pattern
// Recognition and Machine Learning, 2006, 4.3.2). Each example has one score,
// the logit z of P(y = 1):
//   loss      −y log σ(z) − (1 − y) log(1 − σ(z)) = log(1 + e^z) − y z
//   gradient  σ(z) − y
// Backend::SigmoidCrossEntropyForward and …Backward compute both. The figures
// that judge the scores are in core/binary_metrics.h.
class BinaryObjective final : public Objective {
 public:
  constexpr BinaryObjective() : Objective("binary", &kBinaryMetrics) {}
  double Loss(absl::Span<const float> scores, absl::Span<const uint8_t> labels,
              Backend* backend) const override;
  void LossGradient(absl::Span<const float> scores,
                    absl::Span<const uint8_t> labels, float scale,
                    Backend* backend,
                    absl::Span<float> d_scores) const override;
};

inline constexpr BinaryObjective kBinaryObjective{};

}  // namespace shoal

#endif  // SHOAL_MODELS_BINARY_OBJECTIVE_H_
