#ifndef SHOAL_MODELS_LAYERS_FM_H_
#define SHOAL_MODELS_LAYERS_FM_H_

#include "absl/types/span.h"
#include "base/aligned_buffer.h"
#include "models/backend/backend.h"

namespace shoal {

// Factorisation machine over looked-up rows [w, v_1 … v_K]; with K = 0 the
// linear part Σ w x alone. Formulas: Backend::FmForward and FmBackward. Keeps
// the embeddings e = v x for the network above.
// Thread-compatible.
class FmLayer {
 public:
  // `backend` must outlive the layer.
  explicit FmLayer(Backend* backend);

  // Adds the first and second order to logits (B).
  void Forward(const FmInput& input, bool keep_embeddings,
               absl::Span<float> logits);

  // The embeddings of the last Forward, B × F × K, with zeros where padded;
  // empty if `keep_embeddings` was false. Backward does not read them, so the
  // network above may overwrite them with their gradients.
  absl::Span<float> embeddings() { return embeddings_.span(); }

  // Call it after Forward, with the same input. d_embeddings is the gradient
  // from the network above; empty if there is no network. d_rows (U × (1 + K))
  // is overwritten, or with `accumulate` added to.
  void Backward(const FmInput& input, absl::Span<const float> d_logits,
                absl::Span<const float> d_embeddings, bool accumulate,
                absl::Span<float> d_rows);

 private:
  Backend* const backend_;
  AlignedBuffer<float> embeddings_;  // B × F × K
  AlignedBuffer<float> sums_;        // B × K, Σ_j e_jk
};

}  // namespace shoal

#endif  // SHOAL_MODELS_LAYERS_FM_H_
