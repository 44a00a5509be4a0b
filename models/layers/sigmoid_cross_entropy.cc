#include "models/layers/sigmoid_cross_entropy.h"

namespace shoal {

SigmoidCrossEntropy::SigmoidCrossEntropy(Backend* backend)
    : backend_(backend) {}

double SigmoidCrossEntropy::Forward(absl::Span<const float> logits,
                                    absl::Span<const uint8_t> labels) {
  return backend_->SigmoidCrossEntropyForward(logits, labels);
}

absl::Span<float> SigmoidCrossEntropy::Backward(
    absl::Span<const float> logits, absl::Span<const uint8_t> labels,
    int batch_size) {
  d_logits_.ResizeDiscard(logits.size());
  backend_->SigmoidCrossEntropyBackward(
      logits, labels, 1.0f / static_cast<float>(batch_size), d_logits_.span());
  return d_logits_.span();
}

}  // namespace shoal
