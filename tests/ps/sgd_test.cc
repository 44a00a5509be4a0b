#include "ps/optimizer/sgd.h"

#include <vector>

#include "gtest/gtest.h"

namespace shoal {
namespace {

using Floats = std::vector<float>;

TEST(Sgd, MovesAgainstTheGradient) {
  Floats w = {1, 2, 3};
  SgdApply(OptimizerSpec(), 0.5f, {1, -2, 0}, absl::MakeSpan(w));
  EXPECT_EQ(w, (Floats{0.5f, 3, 3}));
}

}  // namespace
}  // namespace shoal
