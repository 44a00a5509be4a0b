#include "models/layers/dense.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/backend/create_backend.h"
#include "tests/models/numeric.h"

namespace shoal {
namespace {

constexpr int kInputs = 7;
constexpr int kOutputs = 3;

struct Case {
  const char* backend;
  Activation activation;
  int batch;
};

// Σ over y of c · activation(x · W + b), in double: a scalar whose gradient
// with d_y = c is the layer's backward pass.
double WeightedOutput(Activation activation, const std::vector<double>& x,
                      const std::vector<double>& weights,
                      const std::vector<double>& biases,
                      const std::vector<float>& c) {
  double sum = 0;
  const int batch = static_cast<int>(c.size()) / kOutputs;
  for (int b = 0; b < batch; ++b) {
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
  const int batch = GetParam().batch;
  const auto backend = *CreateBackend(GetParam().backend);
  DenseLayer layer(kInputs, kOutputs, activation, backend.get());
  // Twice, with other weights: nothing of the first may be left.
  for (const uint64_t seed : {1, 11}) {
    const auto x = RandomVector(seed, batch * kInputs);
    const auto weights = RandomVector(seed + 1, kInputs * kOutputs);
    const auto biases = RandomVector(seed + 2, kOutputs);
    const auto c = RandomVector(seed + 3, batch * kOutputs);

    layer.NewWeights();
    const absl::Span<const float> y = layer.Forward(batch, x, weights, biases);
    double weighted = 0;
    for (size_t i = 0; i < c.size(); ++i) weighted += double{c[i]} * y[i];
    const double expected = WeightedOutput(
        activation, ToDouble(x), ToDouble(weights), ToDouble(biases), c);
    EXPECT_NEAR(weighted, expected, 1e-6 * batch);

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
    const auto by_x = [&](const std::vector<double>& at) {
      return WeightedOutput(activation, at, W, B, c);
    };
    const auto by_weights = [&](const std::vector<double>& at) {
      return WeightedOutput(activation, X, at, B, c);
    };
    const auto by_biases = [&](const std::vector<double>& at) {
      return WeightedOutput(activation, X, W, at, c);
    };
    EXPECT_LT(RelativeError(d_x, NumericGradient(by_x, X)), 1e-6);
    EXPECT_LT(RelativeError(d_weights, NumericGradient(by_weights, W)), 2e-6);
    EXPECT_LT(RelativeError(d_biases, NumericGradient(by_biases, B)), 2e-6);

    // A further part of the batch adds to the gradients of the variables; its
    // own gradient may take the place of its inputs.
    std::vector<float> in_place = x;
    d_y = c;
    layer.Backward(in_place, weights, absl::MakeSpan(d_y), /*accumulate=*/true,
                   absl::MakeSpan(d_weights), absl::MakeSpan(d_biases),
                   absl::MakeSpan(in_place));
    EXPECT_EQ(in_place, d_x);
    auto twice = NumericGradient(by_weights, W);
    for (double& d : twice) d *= 2;
    EXPECT_LT(RelativeError(d_weights, twice), 2e-6);
  }
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const char* backend : {"reference", "onednn"}) {
    for (const Activation activation :
         {Activation::kRelu, Activation::kIdentity}) {
      // The larger is computed from a transposed copy of the weights.
      for (const int batch : {5, 130}) {
        cases.push_back({backend, activation, batch});
      }
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Backends, DenseLayerTest, ::testing::ValuesIn(Cases()),
                         [](const auto& info) {
                           return std::string(info.param.backend) +
                                  (info.param.activation == Activation::kRelu
                                       ? "Relu"
                                       : "Linear") +
                                  std::to_string(info.param.batch);
                         });

}  // namespace
}  // namespace shoal
