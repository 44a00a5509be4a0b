#ifndef SHOAL_MODELS_INITIALIZERS_H_
#define SHOAL_MODELS_INITIALIZERS_H_

#include <cmath>

#include "core/model_spec.h"

namespace shoal {

// Glorot normal (Glorot and Bengio, AISTATS 2010) as TensorFlow draws it: a
// normal distribution truncated at two standard deviations, and widened so that
// its variance after truncation is 2 / (fan_in + fan_out). .8796… is the
// standard deviation of the truncated unit normal.
inline InitializerSpec GlorotNormal(double fan_in, double fan_out) {
  return {InitializerKind::kTruncatedNormal,
          static_cast<float>(std::sqrt(2 / (fan_in + fan_out)) /
                             0.87962566103423978)};
}

// Xavier (Glorot) uniform: limit sqrt(6 / (fan_in + fan_out)).
inline InitializerSpec XavierUniform(double fan_in, double fan_out) {
  return {InitializerKind::kUniform,
          static_cast<float>(std::sqrt(6 / (fan_in + fan_out)))};
}

}  // namespace shoal

#endif  // SHOAL_MODELS_INITIALIZERS_H_
