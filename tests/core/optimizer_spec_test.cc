#include "core/optimizer_spec.h"

#include <cstdint>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

TEST(OptimizerSpec, NamesAreReadInAnyCaseAndAWrongOneListsThem) {
  EXPECT_EQ(*ParseOptimizerKind("sgd"), OptimizerKind::kSgd);
  EXPECT_EQ(*ParseOptimizerKind("Adagrad"), OptimizerKind::kAdagrad);
  EXPECT_EQ(*ParseOptimizerKind("rowwise_adagrad"),
            OptimizerKind::kRowwiseAdagrad);
  EXPECT_EQ(*ParseOptimizerKind("ADAM"), OptimizerKind::kAdam);
  EXPECT_EQ(*ParseOptimizerKind("Ftrl"), OptimizerKind::kFtrl);
  const absl::Status status = ParseOptimizerKind("adamw").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("adamw"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("sgd, adagrad, rowwise_adagrad, adam, ftrl"));
}

TEST(OptimizerSpec, SlotsAreWhatEachRuleKeeps) {
  const auto slots = [](OptimizerKind kind, int64_t weights) {
    OptimizerSpec spec;
    spec.kind = kind;
    return spec.slot_floats(weights);
  };
  EXPECT_EQ(slots(OptimizerKind::kSgd, 8), 0);
  EXPECT_EQ(slots(OptimizerKind::kAdagrad, 8), 8);
  EXPECT_EQ(slots(OptimizerKind::kRowwiseAdagrad, 1), 1);
  EXPECT_EQ(slots(OptimizerKind::kRowwiseAdagrad, 8), 1);
  EXPECT_EQ(slots(OptimizerKind::kAdam, 8), 16);
  EXPECT_EQ(slots(OptimizerKind::kFtrl, 8), 16);
}

TEST(OptimizerSpec, EachConstantIsRefusedOutsideItsRange) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  struct Case {
    float OptimizerSpec::*field;
    const char* name;
    float good;
    float bad;
  };
  const Case cases[] = {
      {&OptimizerSpec::learning_rate, "learning_rate", 1e-9f, 0},
      {&OptimizerSpec::l2, "l2", 0, -1e-9f},
      {&OptimizerSpec::adagrad_initial_accumulator,
       "adagrad_initial_accumulator", 1e-8f, 0},
      {&OptimizerSpec::ftrl_initial_accumulator, "ftrl_initial_accumulator",
       1e-8f, 0},
      {&OptimizerSpec::ftrl_l1, "ftrl_l1", 0, -1e-9f},
      {&OptimizerSpec::ftrl_l2, "ftrl_l2", 0, -1e-9f},
      {&OptimizerSpec::adam_beta1, "adam_beta1", 0, 1},
      {&OptimizerSpec::adam_beta2, "adam_beta2", 0, 1},
      {&OptimizerSpec::adam_epsilon, "adam_epsilon", 1e-8f, 0},
  };
  EXPECT_TRUE(OptimizerSpec().Validate().ok());
  for (const Case& c : cases) {
    OptimizerSpec spec;
    spec.*c.field = c.good;
    EXPECT_TRUE(spec.Validate().ok()) << c.name;
    for (const float value : {c.bad, kNan, kInf, -kInf}) {
      spec.*c.field = value;
      const absl::Status status = spec.Validate();
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument)
          << c.name << " = " << value;
      EXPECT_THAT(std::string(status.message()), HasSubstr(c.name));
    }
  }
}

}  // namespace
}  // namespace shoal
