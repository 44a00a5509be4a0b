#include "models/backend/plain_passes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

namespace shoal {
namespace {

// σ(z) without overflow on either side.
float Sigmoid(float z) {
  const float e = std::exp(-std::abs(z));
  return (z >= 0 ? 1.0f : e) / (1.0f + e);
}

}  // namespace

void PlainScaleByMask(absl::Span<const uint8_t> mask, float scale,
                      absl::Span<float> x) {
  const uint8_t* __restrict keep = mask.data();
  float* __restrict out = x.data();
  const size_t size = x.size();
  // Masks bits. A branch would be mispredicted, and a factor of 0 would turn
  // infinities into NaN.
  for (size_t i = 0; i < size; ++i) {
    const auto bits = std::bit_cast<uint32_t>(out[i] * scale);
    out[i] = std::bit_cast<float>(bits & (0u - keep[i]));
  }
}

double PlainSigmoidCrossEntropyForward(absl::Span<const float> logits,
                                       absl::Span<const uint8_t> labels) {
  double sum = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    const double z = logits[i];
    sum +=
        std::max(z, 0.0) - z * labels[i] + std::log1p(std::exp(-std::abs(z)));
  }
  return sum;
}

void PlainSigmoidCrossEntropyBackward(absl::Span<const float> logits,
                                      absl::Span<const uint8_t> labels,
                                      float scale, absl::Span<float> d_logits) {
  for (size_t i = 0; i < logits.size(); ++i) {
    d_logits[i] = (Sigmoid(logits[i]) - labels[i]) * scale;
  }
}

}  // namespace shoal
