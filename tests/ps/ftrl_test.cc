#include "ps/optimizer/ftrl.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ps/optimizer/adagrad.h"

namespace shoal {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;

using Floats = std::vector<float>;

// The weights after `steps` updates at rate 3 by the gradients of TensorFlow's
// tests, from the accumulator 0.1.
Floats AfterSteps(int steps, float l1, float l2, Floats w) {
  OptimizerSpec spec;
  spec.ftrl_l1 = l1;
  spec.ftrl_l2 = l2;
  Floats accumulator(4, 0.1f), linear(4);
  for (int step = 0; step < steps; ++step) {
    FtrlApply(spec, 3, {0.1f, 0.2f, 0.01f, 0.02f}, absl::MakeSpan(w),
              absl::MakeSpan(accumulator), absl::MakeSpan(linear));
  }
  return w;
}

// Literals of tensorflow/python/training/ftrl_test.py.
TEST(Ftrl, MatchesTensorFlowWithoutRegularization) {
  EXPECT_THAT(AfterSteps(3, 0, 0, {0, 0, 0, 0}),
              Pointwise(FloatNear(1e-6f), {-2.60260963f, -4.29698515f,
                                           -0.28432083f, -0.56694895f}));
}

TEST(Ftrl, MatchesTensorFlowFromOtherInitialWeights) {
  EXPECT_THAT(AfterSteps(3, 0, 0, {1, 2, 4, 3}),
              Pointwise(FloatNear(3e-6f), {-2.55607247f, -3.98729396f,
                                           -0.28232238f, -0.56096673f}));
}

TEST(Ftrl, MatchesTensorFlowWithL1) {
  EXPECT_THAT(AfterSteps(10, 0.001f, 0, {1, 2, 4, 3}),
              Pointwise(FloatNear(1e-5f), {-7.66718769f, -10.91273689f,
                                           -0.93460727f, -1.86147261f}));
}

TEST(Ftrl, MatchesTensorFlowWithL1AndL2) {
  EXPECT_THAT(AfterSteps(10, 0.001f, 2, {1, 2, 4, 3}),
              Pointwise(FloatNear(1e-6f), {-0.24059935f, -0.46829352f,
                                           -0.02406147f, -0.04830509f}));
}

TEST(Ftrl, AWeightIsZeroWhileL1HoldsItsLinearTerm) {
  OptimizerSpec spec;
  spec.ftrl_l1 = 1;
  Floats w = {5, 5, 5}, accumulator(3, 1), linear(3);
  const auto push = [&] {
    FtrlApply(spec, 1, {0.4f, -0.6f, 0}, absl::MakeSpan(w),
              absl::MakeSpan(accumulator), absl::MakeSpan(linear));
  };
  w = {0, 0, 5};
  push();
  EXPECT_EQ(w, (Floats{0, 0, 0})) << "0.4, 0.6 and 0 are below l1";
  push();
  EXPECT_EQ(w[0], 0);
  EXPECT_GT(w[1], 0) << "1.2 is beyond l1";
  EXPECT_EQ(w[2], 0);
}

// From weights of 0 and without regularization both are the same algorithm.
TEST(Ftrl, IsAdagradFromZeroWithoutRegularization) {
  Floats w(3), accumulator(3, 0.1f), linear(3);
  Floats w_adagrad(3), a(3, 0.1f);
  for (int step = 0; step < 100; ++step) {
    const float sign = step % 3 == 0 ? -1 : 1;
    const Floats g = {sign * 0.1f, 0.3f, step * 0.01f};
    FtrlApply(OptimizerSpec(), 0.5f, g, absl::MakeSpan(w),
              absl::MakeSpan(accumulator), absl::MakeSpan(linear));
    AdagradApply(OptimizerSpec(), 0.5f, g, absl::MakeSpan(w_adagrad),
                 absl::MakeSpan(a));
  }
  EXPECT_THAT(w, Pointwise(FloatNear(2e-5f), w_adagrad));
  EXPECT_THAT(accumulator, Pointwise(FloatNear(1e-6f), a));
}

// sqrt(1e6 + 1e-4) - sqrt(1e6) is 5e-8, which no subtraction of floats sees.
TEST(Ftrl, SmallGradientsCountBesideALargeAccumulator) {
  Floats w = {1000}, accumulator = {1e6f}, linear = {0};
  FtrlApply(OptimizerSpec(), 1, {0.01f}, absl::MakeSpan(w),
            absl::MakeSpan(accumulator), absl::MakeSpan(linear));
  EXPECT_FLOAT_EQ(linear[0], 0.01f - 5e-8f * 1000);
}

}  // namespace
}  // namespace shoal
