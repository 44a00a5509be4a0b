#ifndef SHOAL_MODELS_LAYERS_LOSS_H_
#define SHOAL_MODELS_LAYERS_LOSS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "base/aligned_buffer.h"
#include "models/backend/backend.h"
#include "models/objective.h"

namespace shoal {

// The last layer of a model: the loss of its scores, B × C, by the model's
// objective, and the gradient with which the backward pass begins.
// Thread-compatible.
class LossLayer {
 public:
  // Both must outlive the layer.
  LossLayer(const Objective* objective, Backend* backend);

  const Objective& objective() const { return *objective_; }

  // Returns the SUM of the loss over the examples. scores: B × C, labels: B.
  double Forward(absl::Span<const float> scores,
                 absl::Span<const uint8_t> labels);

  // Gradient of the MEAN loss over `batch_size` examples, of which these are
  // all or some: B × C floats that the layer keeps until the next call; the
  // caller may change them. REQUIRES: batch_size >= 1.
  absl::Span<float> Backward(absl::Span<const float> scores,
                             absl::Span<const uint8_t> labels, int batch_size);

 private:
  const Objective* const objective_;
  Backend* const backend_;
  AlignedBuffer<float> d_scores_;
};

}  // namespace shoal

#endif  // SHOAL_MODELS_LAYERS_LOSS_H_
