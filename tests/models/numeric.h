#ifndef SHOAL_TESTS_MODELS_NUMERIC_H_
#define SHOAL_TESTS_MODELS_NUMERIC_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "base/philox.h"

namespace shoal {

// Helpers of the numeric tests. The tests state every formula a second time in
// double, and differentiate that numerically: what a float implementation is
// compared with shares no code with it, and is good to about 1e-9.

// Uniform in [-scale, scale), a function of (seed, i).
inline std::vector<float> RandomVector(uint64_t seed, size_t size,
                                       float scale = 1) {
  const Philox philox(seed);
  std::vector<float> v(size);
  for (size_t i = 0; i < size; ++i) {
    v[i] = scale * (2 * UniformFloat(philox(1, i)[0]) - 1);
  }
  return v;
}

inline std::vector<double> ToDouble(absl::Span<const float> v) {
  return std::vector<double>(v.begin(), v.end());
}

// Central differences of `function` (vector<double> -> double) at `at`.
template <typename Function>
std::vector<double> NumericGradient(Function function, std::vector<double> at) {
  constexpr double kStep = 1e-5;
  std::vector<double> gradient(at.size());
  for (size_t i = 0; i < at.size(); ++i) {
    const double here = at[i];
    at[i] = here + kStep;
    const double above = function(at);
    at[i] = here - kStep;
    const double below = function(at);
    at[i] = here;
    gradient[i] = (above - below) / (2 * kStep);
  }
  return gradient;
}

// Largest difference over the largest expected size: an error relative to the
// whole tensor, since one element may cancel to nothing.
template <typename A, typename B>
double RelativeError(const A& actual, const B& expected) {
  EXPECT_EQ(actual.size(), expected.size());
  double largest = 1e-30;
  double error = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(double{expected[i]}));
    const double difference = std::abs(actual[i] - double{expected[i]});
    // A NaN anywhere must fail, not be skipped by max.
    error = std::isnan(difference) ? INFINITY : std::max(error, difference);
  }
  return error / largest;
}

}  // namespace shoal

#endif  // SHOAL_TESTS_MODELS_NUMERIC_H_
