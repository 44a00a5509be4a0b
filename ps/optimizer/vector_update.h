#ifndef SHOAL_PS_OPTIMIZER_VECTOR_UPDATE_H_
#define SHOAL_PS_OPTIMIZER_VECTOR_UPDATE_H_

#include "absl/types/span.h"
#include "core/optimizer_spec.h"

namespace shoal {

// The updates of Adam (adam.h) and Adagrad (adagrad.h), computed in vectors of
// the widest instruction set that this processor has (Highway chooses it at run
// time). No multiply-add is fused, so every instruction set gives the same
// bits. Pure; REQUIRES: spans of one length, not overlapping.

void VectorAdam(const OptimizerSpec& spec, float rate,
                absl::Span<const float> gradient, absl::Span<float> weights,
                absl::Span<float> m, absl::Span<float> v);

void VectorAdagrad(const OptimizerSpec& spec, float rate,
                   absl::Span<const float> gradient, absl::Span<float> weights,
                   absl::Span<float> accumulator);

}  // namespace shoal

#endif  // SHOAL_PS_OPTIMIZER_VECTOR_UPDATE_H_
