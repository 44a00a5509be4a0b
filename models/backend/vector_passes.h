#ifndef SHOAL_MODELS_BACKEND_VECTOR_PASSES_H_
#define SHOAL_MODELS_BACKEND_VECTOR_PASSES_H_

#include <string>

#include "absl/types/span.h"
#include "models/backend/backend.h"

namespace shoal {

// The operations of Backend that are one pass over memory, computed in vectors
// of the widest instruction set that this processor has (Highway chooses it at
// run time). Arguments and results are as in Backend. Fused multiply-adds round
// once where the reference loops round twice, so the last bits differ between
// instruction sets; on one instruction set the bits are the same, call after
// call. Pure.

void VectorTranspose(int rows, int cols, absl::Span<const float> from,
                     absl::Span<float> to);

void VectorBiasForward(Activation activation, absl::Span<const float> bias,
                       absl::Span<float> y);

void VectorBiasBackward(Activation activation, absl::Span<const float> y,
                        absl::Span<float> d_y, bool accumulate,
                        absl::Span<float> d_bias);

void VectorFmForward(const FmInput& input, absl::Span<float> embeddings,
                     absl::Span<float> sums, absl::Span<float> logits);

void VectorFmBackward(const FmInput& input, absl::Span<const float> sums,
                      absl::Span<const float> d_logits,
                      absl::Span<const float> d_embeddings, bool accumulate,
                      absl::Span<float> d_rows);

// The instruction set in use, by Highway's name: "AVX3", "AVX2", "SSE4".
std::string VectorTargetName();

}  // namespace shoal

#endif  // SHOAL_MODELS_BACKEND_VECTOR_PASSES_H_
