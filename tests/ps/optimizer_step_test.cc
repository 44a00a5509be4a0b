#include "ps/optimizer/optimizer_step.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "base/philox.h"
#include "core/optimizer_spec.h"
#include "gtest/gtest.h"

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

// The same formulas in double, as they are written in the papers, one row at a
// time.
struct DoubleState {
  double w = 0;
  double sum = 0;     // of squared gradients; row-wise: of the row
  double first = 0;   // m; FTRL's z
  double second = 0;  // v
};

double Adam(const OptimizerSpec& spec, uint64_t t, double rate, double g,
            DoubleState* s) {
  const double b1 = spec.adam_beta1, b2 = spec.adam_beta2;
  s->first = b1 * s->first + (1 - b1) * g;
  s->second = b2 * s->second + (1 - b2) * g * g;
  const double corrected =
      rate * std::sqrt(1 - std::pow(b2, t)) / (1 - std::pow(b1, t));
  return s->w -
         corrected * s->first / (std::sqrt(s->second) + spec.adam_epsilon);
}

double Ftrl(const OptimizerSpec& spec, double rate, double g, DoubleState* s) {
  const double before = std::sqrt(s->sum);
  s->sum += g * g;
  const double root = std::sqrt(s->sum);
  s->first += g - (root - before) / rate * s->w;
  if (std::abs(s->first) <= spec.ftrl_l1) return 0;
  const double sign = s->first > 0 ? 1 : -1;
  return -(s->first - sign * spec.ftrl_l1) / (root / rate + 2 * spec.ftrl_l2);
}

void DoubleApply(const OptimizerSpec& spec, uint64_t t, const Floats& gradients,
                 std::vector<DoubleState>* row) {
  const double rate = t < spec.warmup_batches
                          ? double{spec.learning_rate} * t / spec.warmup_batches
                          : spec.learning_rate;
  std::vector<double> g(row->size());
  double mean_square = 0;
  for (size_t i = 0; i < g.size(); ++i) {
    g[i] = gradients[i] + spec.l2 * (*row)[i].w;
    mean_square += g[i] * g[i] / g.size();
  }
  for (size_t i = 0; i < g.size(); ++i) {
    DoubleState& s = (*row)[i];
    switch (spec.kind) {
      case OptimizerKind::kSgd:
        s.w -= rate * g[i];
        break;
      case OptimizerKind::kAdagrad:
        s.sum += g[i] * g[i];
        s.w -= rate * g[i] / std::sqrt(s.sum);
        break;
      case OptimizerKind::kRowwiseAdagrad:
        s.sum += mean_square;
        s.w -= rate * g[i] / std::sqrt(s.sum);
        break;
      case OptimizerKind::kAdam:
        s.w = Adam(spec, t, rate, g[i], &s);
        break;
      case OptimizerKind::kFtrl:
        s.w = Ftrl(spec, rate, g[i], &s);
        break;
    }
  }
}

// What the slots must hold, in their layout.
Floats ExpectedSlots(OptimizerKind kind, const std::vector<DoubleState>& row) {
  Floats slots;
  const auto add = [&](double DoubleState::*field, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      slots.push_back(static_cast<float>(row[i].*field));
    }
  };
  switch (kind) {
    case OptimizerKind::kSgd:
      break;
    case OptimizerKind::kAdagrad:
      add(&DoubleState::sum, row.size());
      break;
    case OptimizerKind::kRowwiseAdagrad:
      add(&DoubleState::sum, 1);
      break;
    case OptimizerKind::kAdam:
      add(&DoubleState::first, row.size());
      add(&DoubleState::second, row.size());
      break;
    case OptimizerKind::kFtrl:
      add(&DoubleState::sum, row.size());
      add(&DoubleState::first, row.size());
      break;
  }
  return slots;
}

class OptimizerStepTest : public testing::TestWithParam<OptimizerKind> {};

TEST_P(OptimizerStepTest, FollowsTheFormulasInDouble) {
  OptimizerSpec spec = Spec(GetParam(), 0.02f);
  spec.l2 = 0.03f;
  spec.adagrad_initial_accumulator = 0.1f;
  spec.ftrl_initial_accumulator = 0.2f;
  spec.ftrl_l1 = 0.5f;
  spec.ftrl_l2 = 0.25f;
  spec.warmup_batches = 10;
  const size_t n = 37;  // not a multiple of any vector width
  const uint64_t steps = 25;
  Floats w = RandomFloats(1, n);
  Floats slots(spec.slot_floats(n));
  InitialiseSlots(spec, absl::MakeSpan(slots));
  std::vector<DoubleState> expected(n);
  for (size_t i = 0; i < n; ++i) {
    expected[i].w = w[i];
    if (spec.kind == OptimizerKind::kFtrl) {
      expected[i].sum = spec.ftrl_initial_accumulator;
    } else {
      expected[i].sum = spec.adagrad_initial_accumulator;
    }
  }
  for (uint64_t t = 1; t <= steps; ++t) {
    const Floats g = RandomFloats(100 + t, n);
    OptimizerStep(spec, t).Apply(g, absl::MakeSpan(w), absl::MakeSpan(slots));
    DoubleApply(spec, t, g, &expected);
  }
  for (size_t i = 0; i < n; ++i) EXPECT_NEAR(w[i], expected[i].w, 2e-6) << i;
  const Floats expected_slots = ExpectedSlots(spec.kind, expected);
  ASSERT_EQ(slots.size(), expected_slots.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    const float tolerance = 1e-6f * (10 + std::abs(expected_slots[i]));
    EXPECT_NEAR(slots[i], expected_slots[i], tolerance) << i;
  }
}

// The L2 term enters the slots too: it is part of the gradient.
TEST_P(OptimizerStepTest, AddsL2ToTheGradientOnce) {
  OptimizerSpec with = Spec(GetParam(), 0.125f);
  with.l2 = 0.5f;
  OptimizerSpec without = with;
  without.l2 = 0;
  Floats w = {2, -4}, same = w;
  Floats slots(with.slot_floats(2), 1), same_slots = slots;
  OptimizerStep(with, 3).Apply({1, 1}, absl::MakeSpan(w),
                               absl::MakeSpan(slots));
  OptimizerStep(without, 3)
      .Apply({1 + 0.5f * 2, 1 - 0.5f * 4}, absl::MakeSpan(same),
             absl::MakeSpan(same_slots));
  EXPECT_EQ(w, same);
  EXPECT_EQ(slots, same_slots);
}

TEST_P(OptimizerStepTest, EveryPushOfAWarmUpHasItsOwnRate) {
  OptimizerSpec warm = Spec(GetParam(), 0.5f);
  warm.warmup_batches = 8;
  for (const uint64_t t : {1, 3, 8, 100}) {
    OptimizerSpec constant = warm;
    constant.warmup_batches = 0;
    constant.learning_rate = t < 8 ? 0.5f * t / 8 : 0.5f;
    Floats w = {2, -4}, same = w;
    Floats slots(warm.slot_floats(2), 1), same_slots = slots;
    OptimizerStep(warm, t).Apply({1, 2}, absl::MakeSpan(w),
                                 absl::MakeSpan(slots));
    OptimizerStep(constant, t)
        .Apply({1, 2}, absl::MakeSpan(same), absl::MakeSpan(same_slots));
    EXPECT_EQ(w, same) << t;
    EXPECT_EQ(slots, same_slots) << t;
  }
}

INSTANTIATE_TEST_SUITE_P(
    AllKinds, OptimizerStepTest,
    testing::Values(OptimizerKind::kSgd, OptimizerKind::kAdagrad,
                    OptimizerKind::kRowwiseAdagrad, OptimizerKind::kAdam,
                    OptimizerKind::kFtrl),
    [](const auto& info) { return std::string(OptimizerName(info.param)); });

}  // namespace
}  // namespace shoal
