#include "ps/optimizer/learning_rate.h"

#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace shoal {
namespace {

OptimizerSpec Spec(float rate, uint64_t warmup_batches) {
  OptimizerSpec spec;
  spec.learning_rate = rate;
  spec.warmup_batches = warmup_batches;
  return spec;
}

TEST(LearningRate, IsConstantWithoutAWarmUp) {
  for (const uint64_t t : {uint64_t{1}, uint64_t{2}, uint64_t{1} << 60}) {
    EXPECT_EQ(LearningRateAt(Spec(0.3f, 0), t), double{0.3f});
    EXPECT_EQ(LearningRateAt(Spec(0.3f, 1), t), double{0.3f});
  }
}

TEST(LearningRate, RisesByTheSameStepEachBatchUntilItIsWhole) {
  const OptimizerSpec spec = Spec(2, 4);
  EXPECT_EQ(LearningRateAt(spec, 1), 0.5);
  EXPECT_EQ(LearningRateAt(spec, 2), 1);
  EXPECT_EQ(LearningRateAt(spec, 3), 1.5);
  EXPECT_EQ(LearningRateAt(spec, 4), 2);
  EXPECT_EQ(LearningRateAt(spec, 5), 2);
}

TEST(LearningRate, AWarmUpWithoutEndStaysAboveZero) {
  const OptimizerSpec spec = Spec(1e-3f, std::numeric_limits<uint64_t>::max());
  EXPECT_GT(LearningRateAt(spec, 1), 0);
  EXPECT_LT(LearningRateAt(spec, 1), 1e-20);
}

}  // namespace
}  // namespace shoal
