#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "base/philox.h"
#include "core/optimizer_spec.h"
#include "gtest/gtest.h"
#include "ps/optimizer/adagrad.h"
#include "ps/optimizer/adam.h"
#include "ps/optimizer/optimizer_step.h"
#include "ps/optimizer/sgd.h"

namespace shoal {
namespace {

using Floats = std::vector<float>;

OptimizerSpec Spec(OptimizerKind kind, float rate) {
  OptimizerSpec spec;
  spec.kind = kind;
  spec.learning_rate = rate;
  return spec;
}

// Random numbers in [-1, 1), the same at every run.
Floats RandomFloats(uint64_t key, size_t n) {
  Floats out(n);
  for (size_t i = 0; i < n; ++i) {
    out[i] = 2 * UniformFloat(Philox(key)(0, i)[0]) - 1;
  }
  return out;
}

// The same formulas in double, one element at a time.
struct DoubleState {
  double w = 0, a = 0, m = 0, v = 0;
};

void DoubleApply(const OptimizerSpec& spec, uint64_t t, double gradient,
                 DoubleState* s) {
  const double g = gradient + spec.l2 * s->w;
  switch (spec.kind) {
    case OptimizerKind::kSgd:
      s->w -= spec.learning_rate * g;
      return;
    case OptimizerKind::kAdagrad:
      s->a += g * g;
      s->w -= spec.learning_rate * g / std::sqrt(s->a);
      return;
    case OptimizerKind::kAdam:
      const double b1 = spec.adam_beta1, b2 = spec.adam_beta2;
      s->m += (1 - b1) * (g - s->m);
      s->v += (1 - b2) * (g * g - s->v);
      const double lr = spec.learning_rate * std::sqrt(1 - std::pow(b2, t)) /
                        (1 - std::pow(b1, t));
      s->w -= lr * s->m / (std::sqrt(s->v) + spec.adam_epsilon);
      return;
  }
}

TEST(Sgd, MovesAgainstTheGradient) {
  Floats w = {1, 2, 3};
  SgdApply(Spec(OptimizerKind::kSgd, 0.5f), {1, -2, 0}, absl::MakeSpan(w));
  EXPECT_EQ(w, (Floats{0.5f, 3, 3}));
}

// tensorflow/python/training/adagrad_test.py (REFERENCES: 3 steps at rate 3).
TEST(Adagrad, MatchesTensorFlowAfterThreeSteps) {
  const OptimizerSpec spec = Spec(OptimizerKind::kAdagrad, 3);
  Floats w = {1, 2, 3, 4};
  Floats a(4, 0.1f);
  for (int step = 0; step < 3; ++step) {
    AdagradApply(spec, {0.1f, 0.1f, 0.01f, 0.01f}, absl::MakeSpan(w),
                 absl::MakeSpan(a));
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
  AdagradApply(Spec(OptimizerKind::kAdagrad, 0.1f), {1, 2}, absl::MakeSpan(w),
               absl::MakeSpan(a));
  EXPECT_NEAR(w[0], -0.07071067, 1e-7);
  EXPECT_NEAR(w[1], -0.08944272, 1e-7);
  EXPECT_EQ(a, (Floats{2, 5}));
}

TEST(Adam, FirstRateUndoesBothBiases) {
  // With t = 1: sqrt(1 - .999) / (1 - .9) = 0.316227766.
  EXPECT_NEAR(AdamRate(Spec(OptimizerKind::kAdam, 1), 1), 0.3162278, 2e-5);
  EXPECT_NEAR(AdamRate(Spec(OptimizerKind::kAdam, 1), 1000000), 1, 1e-6);
}

TEST(Adam, FirstStepIsTheRateWhateverTheGradient) {
  const OptimizerSpec spec = Spec(OptimizerKind::kAdam, 0.01f);
  for (const float gradient : {1e-3f, 1.0f, -1e3f}) {
    Floats w = {0}, m = {0}, v = {0};
    AdamApply(spec, AdamRate(spec, 1), {gradient}, absl::MakeSpan(w),
              absl::MakeSpan(m), absl::MakeSpan(v));
    EXPECT_NEAR(w[0], gradient > 0 ? -0.01f : 0.01f, 1e-5) << gradient;
  }
}

// Adam moves by its old m where the gradient is 0: not a no-op.
TEST(Adam, MovesByItsMomentumOnAZeroGradient) {
  const OptimizerSpec spec = Spec(OptimizerKind::kAdam, 0.01f);
  Floats w = {0}, m = {0.5f}, v = {0.25f};
  AdamApply(spec, AdamRate(spec, 7), {0}, absl::MakeSpan(w), absl::MakeSpan(m),
            absl::MakeSpan(v));
  EXPECT_LT(w[0], 0);
  EXPECT_FLOAT_EQ(m[0], 0.45f);
  EXPECT_FLOAT_EQ(v[0], 0.24975f);
}

class OptimizerStepTest : public testing::TestWithParam<OptimizerKind> {};

TEST_P(OptimizerStepTest, FollowsTheFormulasInDouble) {
  OptimizerSpec spec = Spec(GetParam(), 0.02f);
  spec.l2 = 0.03f;
  spec.adagrad_initial_accumulator = 0.1f;
  const size_t n = 37;  // not a multiple of any vector width
  const uint64_t steps = 25;
  Floats w = RandomFloats(1, n);
  Floats slots(n * spec.slots_per_weight());
  InitialiseSlots(spec, absl::MakeSpan(slots));
  std::vector<DoubleState> expected(n);
  for (size_t i = 0; i < n; ++i) {
    expected[i].w = w[i];
    expected[i].a = spec.adagrad_initial_accumulator;
  }
  for (uint64_t t = 1; t <= steps; ++t) {
    const Floats g = RandomFloats(100 + t, n);
    OptimizerStep(spec, t).Apply(g, absl::MakeSpan(w), absl::MakeSpan(slots));
    for (size_t i = 0; i < n; ++i) DoubleApply(spec, t, g[i], &expected[i]);
  }
  for (size_t i = 0; i < n; ++i) {
    EXPECT_NEAR(w[i], expected[i].w, 2e-6) << i;
    if (spec.kind == OptimizerKind::kAdagrad) {
      EXPECT_NEAR(slots[i], expected[i].a, 1e-5) << i;
    } else if (spec.kind == OptimizerKind::kAdam) {
      EXPECT_NEAR(slots[i], expected[i].m, 1e-6) << i;
      EXPECT_NEAR(slots[n + i], expected[i].v, 1e-6) << i;
    }
  }
}

// The L2 term enters the slots too: it is part of the gradient.
TEST_P(OptimizerStepTest, AddsL2ToTheGradientOnce) {
  OptimizerSpec with = Spec(GetParam(), 0.125f);
  with.l2 = 0.5f;
  OptimizerSpec without = with;
  without.l2 = 0;
  Floats w = {2, -4}, same = w;
  Floats slots(2 * with.slots_per_weight(), 1), same_slots = slots;
  OptimizerStep(with, 3).Apply({1, 1}, absl::MakeSpan(w),
                               absl::MakeSpan(slots));
  OptimizerStep(without, 3)
      .Apply({1 + 0.5f * 2, 1 - 0.5f * 4}, absl::MakeSpan(same),
             absl::MakeSpan(same_slots));
  EXPECT_EQ(w, same);
  EXPECT_EQ(slots, same_slots);
}

INSTANTIATE_TEST_SUITE_P(AllKinds, OptimizerStepTest,
                         testing::Values(OptimizerKind::kSgd,
                                         OptimizerKind::kAdagrad,
                                         OptimizerKind::kAdam),
                         [](const auto& info) {
                           return std::string(OptimizerName(info.param));
                         });

}  // namespace
}  // namespace shoal
