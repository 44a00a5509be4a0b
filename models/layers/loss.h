#ifndef SHOAL_MODELS_LAYERS_LOSS_H_
#define SHOAL_MODELS_LAYERS_LOSS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "base/aligned_buffer.h"
#include "models/backend/backend.h"
#include "models/objective.h"

namespace shoal {

// The last layer of a model. It computes the loss of the scores, B × C, by the
// model's objective, and the gradient that begins the backward pass.
// Thread-compatible.
class LossLayer {
 public:
  // `objective` and `backend` must outlive the layer.
  LossLayer(const Objective* objective, Backend* backend);

  const Objective& objective() const { return *objective_; }

  // Returns the SUM of the loss over the examples. scores: B × C, labels: B.
  double Forward(absl::Span<const float> scores,
                 absl::Span<const uint8_t> labels);

  // The gradient of the SUM of the loss divided by `divisor`, which is
  // ModelInput::loss_divisor. The examples are all or a part of the batch. The
  // layer keeps the B × C floats until the next call; the caller may change
  // them. REQUIRES: divisor is finite and greater than 0.
  absl::Span<float> Backward(absl::Span<const float> scores,
                             absl::Span<const uint8_t> labels, double divisor);

 private:
  const Objective* const objective_;
  Backend* const backend_;
  AlignedBuffer<float> d_scores_;
};

}  // namespace shoal

#endif  // SHOAL_MODELS_LAYERS_LOSS_H_
