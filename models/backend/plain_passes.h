#ifndef SHOAL_MODELS_BACKEND_PLAIN_PASSES_H_
#define SHOAL_MODELS_BACKEND_PLAIN_PASSES_H_

#include <cstdint>

#include "absl/types/span.h"

namespace shoal {

// The operations of Backend for which plain loops are as fast as any other
// code, so that all CPU backends share them. Arguments and results are as in
// Backend. Pure.

void PlainScaleByMask(absl::Span<const uint8_t> mask, float scale,
                      absl::Span<float> x);

double PlainSigmoidCrossEntropyForward(absl::Span<const float> logits,
                                       absl::Span<const uint8_t> labels);

void PlainSigmoidCrossEntropyBackward(absl::Span<const float> logits,
                                      absl::Span<const uint8_t> labels,
                                      float scale, absl::Span<float> d_logits);

}  // namespace shoal

#endif  // SHOAL_MODELS_BACKEND_PLAIN_PASSES_H_
