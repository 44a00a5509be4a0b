#include "core/binary_metrics.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

const std::vector<float> kLogits = {0.5f, 2, -1, -0.25f};
const std::vector<uint8_t> kLabels = {0, 1, 0, 1};

TEST(BinaryMetricsTest, SumsAreTheSameBitsAsOneExampleAtATime) {
  ScoreSums sums = {1, 2, 3};
  kBinaryMetrics.Sum(kLogits, kLabels, &sums);
  double loss = 1;
  double predicted = 2;
  for (size_t i = 0; i < kLogits.size(); ++i) {
    loss += LogLoss(kLogits[i], kLabels[i]);
    predicted += Probability(kLogits[i]);
  }
  EXPECT_EQ(sums.loss, loss);
  EXPECT_EQ(sums.predicted, predicted);
  EXPECT_EQ(sums.positives, 5u);
}

TEST(BinaryMetricsTest, RanksEachExampleByItsLogit) {
  std::vector<ScoredExample> ranked;
  kBinaryMetrics.AppendRanked(kLogits, kLabels, &ranked);
  EXPECT_EQ(ExactAuc(ranked), ExactAuc(kLogits, kLabels));
  EXPECT_EQ(ExactAuc(ranked), 0.75);
  kBinaryMetrics.AppendRanked({std::nanf("")}, {1}, &ranked);
  ASSERT_EQ(ranked.size(), 5u);
  EXPECT_EQ(ranked[4].score, -std::numeric_limits<float>::infinity());
  EXPECT_EQ(ranked[4].label, 1);
}

TEST(BinaryMetricsTest, PredictsTheProbability) {
  std::vector<float> predictions(3);
  kBinaryMetrics.Predict({0, std::nanf(""), std::log(3.0f)},
                         absl::MakeSpan(predictions));
  EXPECT_EQ(predictions[0], 0.5f);
  EXPECT_TRUE(std::isnan(predictions[1]));
  EXPECT_FLOAT_EQ(predictions[2], 0.75f);
}

}  // namespace
}  // namespace shoal
