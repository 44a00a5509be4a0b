#include "models/layers/dense.h"

#include <gtest/gtest.h>

#include "models/backend/create_backend.h"
#include "tests/models/numeric.h"

namespace shoal {
namespace {

constexpr int kBatch = 5;
constexpr int kInputs = 7;
constexpr int kOutputs = 3;

struct Case {
  const char* backend;
  Activation activation;
};

// Σ over y of c · activation(x · W + b), in double: a scalar whose gradient
// with d_y = c is the layer's backward pass.
double WeightedOutput(Activation activation, const std::vector<double>& x,
                      const std::vector<double>& weights,
                      const std::vector<double>& biases,
                      const std::vector<float>& c) {
  double sum = 0;
  for (int b = 0; b < kBatch; ++b) {
    for (int o = 0; o < kOutputs; ++o) {
      double y = biases[o];
      for (int i = 0; i < kInputs; ++i) {
        y += x[b * kInputs + i] * weights[i * kOutputs + o];
      }
      if (activation == Activation::kRelu) y = std::max(y, 0.0);
      sum += y * c[b * kOutputs + o];
    }
  }
  return sum;
}

class DenseLayerTest : public ::testing::TestWithParam<Case> {};

TEST_P(DenseLayerTest, GradientsAreTheNumericOnes) {
  const Activation activation = GetParam().activation;
  const auto backend = *CreateBackend(GetParam().backend);
  DenseLayer layer(kInputs, kOutputs, activation, backend.get());
  const auto x = RandomVector(1, kBatch * kInputs);
  const auto weights = RandomVector(2, kInputs * kOutputs);
  const auto biases = RandomVector(3, kOutputs);
  const auto c = RandomVector(4, kBatch * kOutputs);

  const absl::Span<const float> y = layer.Forward(kBatch, x, weights, biases);
  double weighted = 0;
  for (size_t i = 0; i < c.size(); ++i) weighted += double{c[i]} * y[i];
  EXPECT_NEAR(weighted,
              WeightedOutput(activation, ToDouble(x), ToDouble(weights),
                             ToDouble(biases), c),
              1e-6);

  std::vector<float> d_y = c;
  std::vector<float> d_weights(weights.size(), -7);
  std::vector<float> d_biases(biases.size(), -7);
  std::vector<float> d_x(x.size(), -7);
  layer.Backward(x, weights, absl::MakeSpan(d_y), /*accumulate=*/false,
                 absl::MakeSpan(d_weights), absl::MakeSpan(d_biases),
                 absl::MakeSpan(d_x));
  const auto X = ToDouble(x);
  const auto W = ToDouble(weights);
  const auto B = ToDouble(biases);
  EXPECT_LT(RelativeError(d_x, NumericGradient(
                                   [&](const std::vector<double>& at) {
                                     return WeightedOutput(activation, at, W, B,
                                                           c);
                                   },
                                   X)),
            1e-6);
  EXPECT_LT(RelativeError(d_weights, NumericGradient(
                                         [&](const std::vector<double>& at) {
                                           return WeightedOutput(activation, X,
                                                                 at, B, c);
                                         },
                                         W)),
            1e-6);
  EXPECT_LT(RelativeError(d_biases, NumericGradient(
                                        [&](const std::vector<double>& at) {
                                          return WeightedOutput(activation, X,
                                                                W, at, c);
                                        },
                                        B)),
            1e-6);
}

INSTANTIATE_TEST_SUITE_P(
    Backends, DenseLayerTest,
    ::testing::Values(Case{"reference", Activation::kRelu},
                      Case{"reference", Activation::kIdentity},
                      Case{"onednn", Activation::kRelu},
                      Case{"onednn", Activation::kIdentity}),
    [](const auto& info) {
      return std::string(info.param.backend) +
             (info.param.activation == Activation::kRelu ? "Relu" : "Linear");
    });

}  // namespace
}  // namespace shoal
