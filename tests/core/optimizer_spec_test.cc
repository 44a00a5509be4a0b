#include "core/optimizer_spec.h"

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
  EXPECT_EQ(*ParseOptimizerKind("ADAM"), OptimizerKind::kAdam);
  const absl::Status status = ParseOptimizerKind("adamw").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("adamw"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("adagrad"));
}

TEST(OptimizerSpec, SlotsAreWhatEachRuleKeeps) {
  OptimizerSpec spec;
  spec.kind = OptimizerKind::kSgd;
  EXPECT_EQ(spec.slots_per_weight(), 0);
  spec.kind = OptimizerKind::kAdagrad;
  EXPECT_EQ(spec.slots_per_weight(), 1);
  spec.kind = OptimizerKind::kAdam;
  EXPECT_EQ(spec.slots_per_weight(), 2);
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
      {&OptimizerSpec::adagrad_initial_accumulator, "accumulator", 1e-8f, 0},
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
