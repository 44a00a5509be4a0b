#include "models/binary_objective.h"

namespace shoal {

double BinaryObjective::Loss(absl::Span<const float> scores,
                             absl::Span<const uint8_t> labels,
                             Backend* backend) const {
  return backend->SigmoidCrossEntropyForward(scores, labels);
}

void BinaryObjective::LossGradient(absl::Span<const float> scores,
                                   absl::Span<const uint8_t> labels,
                                   float scale, Backend* backend,
                                   absl::Span<float> d_scores) const {
  backend->SigmoidCrossEntropyBackward(scores, labels, scale, d_scores);
}

}  // namespace shoal
