#include "ps/optimizer/adam.h"

#include <vector>

#include "gtest/gtest.h"

namespace shoal {
namespace {

using Floats = std::vector<float>;

OptimizerSpec Spec(float rate) {
  OptimizerSpec spec;
  spec.learning_rate = rate;
  return spec;
}

TEST(Adam, FirstRateUndoesBothBiases) {
  // With t = 1: sqrt(1 - .999) / (1 - .9) = 0.316227766.
  EXPECT_NEAR(AdamRate(Spec(1), 1), 0.3162278, 2e-5);
  EXPECT_NEAR(AdamRate(Spec(1), 1000000), 1, 1e-6);
}

TEST(Adam, TheScheduleScalesItsRate) {
  const OptimizerSpec constant = Spec(0.5f);
  OptimizerSpec warm = constant;
  warm.warmup_batches = 4;
  EXPECT_FLOAT_EQ(AdamRate(warm, 1), AdamRate(constant, 1) / 4);
  EXPECT_FLOAT_EQ(AdamRate(warm, 3), AdamRate(constant, 3) * 3 / 4);
  EXPECT_EQ(AdamRate(warm, 4), AdamRate(constant, 4));
  EXPECT_EQ(AdamRate(warm, 9), AdamRate(constant, 9));
}

TEST(Adam, FirstStepIsTheRateWhateverTheGradient) {
  const OptimizerSpec spec = Spec(0.01f);
  for (const float gradient : {1e-3f, 1.0f, -1e3f}) {
    Floats w = {0}, m = {0}, v = {0};
    AdamApply(spec, AdamRate(spec, 1), {gradient}, absl::MakeSpan(w),
              absl::MakeSpan(m), absl::MakeSpan(v));
    EXPECT_NEAR(w[0], gradient > 0 ? -0.01f : 0.01f, 1e-5) << gradient;
  }
}

// Adam moves by its old m where the gradient is 0: not a no-op.
TEST(Adam, MovesByItsMomentumOnAZeroGradient) {
  const OptimizerSpec spec = Spec(0.01f);
  Floats w = {0}, m = {0.5f}, v = {0.25f};
  AdamApply(spec, AdamRate(spec, 7), {0}, absl::MakeSpan(w), absl::MakeSpan(m),
            absl::MakeSpan(v));
  EXPECT_LT(w[0], 0);
  EXPECT_FLOAT_EQ(m[0], 0.45f);
  EXPECT_FLOAT_EQ(v[0], 0.24975f);
}

}  // namespace
}  // namespace shoal
