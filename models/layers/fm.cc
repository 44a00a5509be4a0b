#include "models/layers/fm.h"

namespace shoal {

FmLayer::FmLayer(Backend* backend) : backend_(backend) {}

void FmLayer::Forward(const FmInput& input, bool keep_embeddings,
                      absl::Span<float> logits) {
  embeddings_.ResizeDiscard(keep_embeddings ? input.row_index.size() * input.dim
                                            : 0);
  sums_.ResizeDiscard(static_cast<size_t>(input.batch_size) * input.dim);
  backend_->FmForward(input, embeddings_.span(), sums_.span(), logits);
}

void FmLayer::Backward(const FmInput& input, absl::Span<const float> d_logits,
                       absl::Span<const float> d_embeddings, bool accumulate,
                       absl::Span<float> d_rows) {
  backend_->FmBackward(input, sums_.span(), d_logits, d_embeddings, accumulate,
                       d_rows);
}

}  // namespace shoal
