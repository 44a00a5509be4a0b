#include "ps/optimizer/vector_update.h"

#include <vector>

#include "base/philox.h"
#include "gtest/gtest.h"
#include "ps/optimizer/adagrad.h"
#include "ps/optimizer/adam.h"
#include "tests/harness/instruction_sets.h"

namespace shoal {
namespace {

using Floats = std::vector<float>;

// Lengths around every number of lanes.
const int kLengths[] = {0, 1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 100};

Floats Uniform(uint64_t stream, int size, float low, float high) {
  const Philox philox(17);
  Floats values;
  for (int i = 0; i < size; ++i) {
    const float u = UniformFloat(philox(stream, i)[0]);
    values.push_back(low + (high - low) * u);
  }
  return values;
}

OptimizerSpec Spec() {
  OptimizerSpec spec;
  spec.learning_rate = 0.1f;
  spec.l2 = 0.01f;
  return spec;
}

// Every instruction set gives the bits of the plain loops.
class VectorUpdate : public ::testing::TestWithParam<InstructionSet> {
 protected:
  VectorUpdate() : set_(GetParam()) {}

  const WithInstructionSet set_;
};

TEST_P(VectorUpdate, AdamIsThePlainLoops) {
  for (const int n : kLengths) {
    const Floats g = Uniform(1, n, -1, 1);
    Floats w = Uniform(2, n, -1, 1);
    Floats m = Uniform(3, n, -1, 1);
    Floats v = Uniform(4, n, 0, 1);
    Floats expected_w = w;
    Floats expected_m = m;
    Floats expected_v = v;
    AdamApply(Spec(), 0.03f, g, absl::MakeSpan(expected_w),
              absl::MakeSpan(expected_m), absl::MakeSpan(expected_v));
    VectorAdam(Spec(), 0.03f, g, absl::MakeSpan(w), absl::MakeSpan(m),
               absl::MakeSpan(v));
    EXPECT_EQ(w, expected_w) << n;
    EXPECT_EQ(m, expected_m) << n;
    EXPECT_EQ(v, expected_v) << n;
  }
}

TEST_P(VectorUpdate, AdagradIsThePlainLoops) {
  for (const int n : kLengths) {
    const Floats g = Uniform(5, n, -1, 1);
    Floats w = Uniform(6, n, -1, 1);
    Floats a = Uniform(7, n, 0.1f, 2);
    Floats expected_w = w;
    Floats expected_a = a;
    AdagradApply(Spec(), 0.1f, g, absl::MakeSpan(expected_w),
                 absl::MakeSpan(expected_a));
    VectorAdagrad(Spec(), 0.1f, g, absl::MakeSpan(w), absl::MakeSpan(a));
    EXPECT_EQ(w, expected_w) << n;
    EXPECT_EQ(a, expected_a) << n;
  }
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, VectorUpdate,
                         ::testing::ValuesIn(InstructionSets()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace shoal
