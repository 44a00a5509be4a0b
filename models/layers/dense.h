#ifndef SHOAL_MODELS_LAYERS_DENSE_H_
#define SHOAL_MODELS_LAYERS_DENSE_H_

#include "absl/types/span.h"
#include "base/aligned_buffer.h"
#include "models/backend/backend.h"
#include "models/layers/part_done.h"

namespace shoal {

// Fully connected layer: y = activation(x · W + b) with x: B × I, W: I × O, b:
// O, y: B × O. The layer keeps y for the backward pass; the caller owns the
// weights. Thread-compatible.
class DenseLayer {
 public:
  // `backend` must outlive the layer.
  DenseLayer(int inputs, int outputs, Activation activation, Backend* backend);

  int inputs() const { return inputs_; }
  int outputs() const { return outputs_; }

  // Tells the layer that the weights may have changed. Call it once before the
  // first Backward with new weights.
  void NewWeights() { transposed_.ResizeDiscard(0); }

  // Returns y, B × O, which the layer keeps until the next call. The caller may
  // change y in place (dropout), as long as no element that was 0 becomes
  // positive.
  absl::Span<float> Forward(int batch_size, absl::Span<const float> x,
                            absl::Span<const float> weights,
                            absl::Span<const float> biases);

  // The result of the last Forward.
  absl::Span<const float> y() const { return y_.span(); }

  // Call it after Forward, with the same x and weights. d_y (B × O) is changed
  // in place to the gradient before the activation. d_x (B × I) is overwritten.
  // d_weights (I × O) and d_biases (O) are overwritten, or with `accumulate`
  // added to. d_x may be the memory of x. `done` learns of d_biases, then of
  // d_weights, before d_x is computed.
  void Backward(absl::Span<const float> x, absl::Span<const float> weights,
                absl::Span<float> d_y, bool accumulate,
                absl::Span<float> d_weights, absl::Span<float> d_biases,
                absl::Span<float> d_x, PartDone done = IgnorePart);

 private:
  const int inputs_;
  const int outputs_;
  const Activation activation_;
  Backend* const backend_;
  int batch_size_ = 0;
  AlignedBuffer<float> y_;
  AlignedBuffer<float> transposed_;  // Wᵀ, O × I; empty until it pays
};

}  // namespace shoal

#endif  // SHOAL_MODELS_LAYERS_DENSE_H_
