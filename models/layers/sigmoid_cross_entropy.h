#ifndef SHOAL_MODELS_LAYERS_SIGMOID_CROSS_ENTROPY_H_
#define SHOAL_MODELS_LAYERS_SIGMOID_CROSS_ENTROPY_H_

#include <cstdint>

#include "absl/types/span.h"
#include "base/aligned_buffer.h"
#include "models/backend/backend.h"

namespace shoal {

// The loss of a click predictor whose output is a logit z: the cross-entropy of
// σ(z) with the label. Formula: Backend::SigmoidCrossEntropyForward.
// Thread-compatible.
class SigmoidCrossEntropy {
 public:
  // `backend` must outlive the layer.
  explicit SigmoidCrossEntropy(Backend* backend);

  // Returns the SUM of the loss over the batch. logits and labels: B.
  double Forward(absl::Span<const float> logits,
                 absl::Span<const uint8_t> labels);

  // Gradient of the MEAN loss over `batch_size` examples, of which these are
  // all or some: (σ(z) − y) / batch_size, B floats that the layer keeps until
  // the next call; the caller may change them.
  absl::Span<float> Backward(absl::Span<const float> logits,
                             absl::Span<const uint8_t> labels, int batch_size);

 private:
  Backend* const backend_;
  AlignedBuffer<float> d_logits_;
};

}  // namespace shoal

#endif  // SHOAL_MODELS_LAYERS_SIGMOID_CROSS_ENTROPY_H_
