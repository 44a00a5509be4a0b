#include "cluster/running_auc.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/metrics.h"

namespace shoal {
namespace {

TEST(RunningAucTest, IsNotANumberBeforeBothLabelsAreThere) {
  RunningAuc auc;
  EXPECT_TRUE(std::isnan(auc.Auc()));
  auc.Add(std::vector<ScoredExample>{{1, 0}, {2, 0}});
  EXPECT_TRUE(std::isnan(auc.Auc()));
  auc.Add(std::vector<ScoredExample>{{3, 1}});
  EXPECT_EQ(auc.Auc(), 1);
}

TEST(RunningAucTest, IsNearTheExactOne) {
  std::vector<ScoredExample> examples;
  for (int i = 0; i < 20000; ++i) {
    const float spread = static_cast<float>((i * 7919) % 10007) / 2000 - 2.5f;
    const uint8_t label = (i * 104729) % 3 == 0;
    examples.push_back({spread + (label != 0 ? 0.8f : 0), label});
  }
  RunningAuc auc;
  auc.Add(examples);
  EXPECT_NEAR(auc.Auc(), ExactAuc(examples), 1e-3);
}

TEST(RunningAucTest, TakesAnyScore) {
  RunningAuc auc;
  auc.Add(std::vector<ScoredExample>{
      {std::nanf(""), 0}, {-INFINITY, 0}, {1e30f, 1}, {INFINITY, 1}});
  EXPECT_EQ(auc.Auc(), 1);
}

}  // namespace
}  // namespace shoal
