#include "ps/optimizer/rowwise_adagrad.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "ps/optimizer/adagrad.h"

namespace shoal {
namespace {

using Floats = std::vector<float>;

// By hand: the squares 1, 4, 4, 16, 0 have the mean 5, and 4 + 5 the root 3.
TEST(RowwiseAdagrad, DividesByTheRootOfTheMeanSquare) {
  Floats w = {1, 1, 1, 1, 1};
  float accumulator = 4;
  RowwiseAdagradApply(OptimizerSpec(), 3, {1, 2, -2, 4, 0}, absl::MakeSpan(w),
                      &accumulator);
  EXPECT_EQ(accumulator, 9);
  EXPECT_EQ(w, (Floats{0, -1, 3, -3, 1}));
}

// A gradient that all weights share makes the mean square each one's own.
TEST(RowwiseAdagrad, IsAdagradWhereAllGradientsAreAlike) {
  for (const size_t dim : {1, 7, 8, 19}) {
    Floats w(dim, 1), w_adagrad(dim, 1);
    Floats a(dim, 0.1f);
    float accumulator = 0.1f;
    for (int step = 0; step < 3; ++step) {
      const Floats g(dim, 0.1f);
      RowwiseAdagradApply(OptimizerSpec(), 3, g, absl::MakeSpan(w),
                          &accumulator);
      AdagradApply(OptimizerSpec(), 3, g, absl::MakeSpan(w_adagrad),
                   absl::MakeSpan(a));
    }
    for (size_t i = 0; i < dim; ++i) {
      EXPECT_NEAR(w[i], w_adagrad[i], 1e-6) << dim;
      // The literal of tensorflow/python/training/adagrad_test.py.
      EXPECT_NEAR(w[i], -1.6026098728, 2e-6) << dim;
    }
    EXPECT_NEAR(accumulator, a[0], 1e-7);
  }
}

// Every weight counts, also those beyond whole vectors.
TEST(RowwiseAdagrad, EveryWeightCountsInTheMean) {
  for (const size_t dim : {1, 3, 8, 9, 16, 17}) {
    for (size_t i = 0; i < dim; ++i) {
      Floats w(dim), g(dim);
      g[i] = 2;
      float accumulator = 1;
      RowwiseAdagradApply(OptimizerSpec(), 1, g, absl::MakeSpan(w),
                          &accumulator);
      const float sum = 1 + 4.0f / static_cast<float>(dim);
      EXPECT_FLOAT_EQ(accumulator, sum) << dim << " " << i;
      EXPECT_FLOAT_EQ(w[i], -2 / std::sqrt(sum)) << dim << " " << i;
    }
  }
}

}  // namespace
}  // namespace shoal
