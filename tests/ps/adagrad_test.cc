#include "ps/optimizer/adagrad.h"

#include <vector>

#include "gtest/gtest.h"

namespace shoal {
namespace {

using Floats = std::vector<float>;

// tensorflow/python/training/adagrad_test.py: 3 steps at rate 3.
TEST(Adagrad, MatchesTensorFlowAfterThreeSteps) {
  Floats w = {1, 2, 3, 4};
  Floats a(4, 0.1f);
  for (int step = 0; step < 3; ++step) {
    AdagradApply(OptimizerSpec(), 3, {0.1f, 0.1f, 0.01f, 0.01f},
                 absl::MakeSpan(w), absl::MakeSpan(a));
  }
  EXPECT_NEAR(w[0], -1.6026098728, 1e-6);
  EXPECT_NEAR(w[1], -0.6026098728, 1e-6);
  EXPECT_NEAR(w[2], 2.715679168, 1e-6);
  EXPECT_NEAR(w[3], 3.715679168, 1e-6);
}

// Monolith's adagrad test: accumulator 1, gradients {1, 2}, rate 0.1.
TEST(Adagrad, MatchesMonolithAfterOneStep) {
  Floats w = {0, 0};
  Floats a = {1, 1};
  AdagradApply(OptimizerSpec(), 0.1f, {1, 2}, absl::MakeSpan(w),
               absl::MakeSpan(a));
  EXPECT_NEAR(w[0], -0.07071067, 1e-7);
  EXPECT_NEAR(w[1], -0.08944272, 1e-7);
  EXPECT_EQ(a, (Floats{2, 5}));
}

}  // namespace
}  // namespace shoal
