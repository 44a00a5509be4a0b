#include "core/unmeasured_metrics.h"

#include <cmath>
#include <vector>

#include "core/binary_metrics.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

TEST(UnmeasuredMetricsTest, HasTheShapesAndNoFigures) {
  const UnmeasuredMetrics metrics(&kBinaryMetrics);
  EXPECT_EQ(metrics.num_scores(), 1);
  EXPECT_EQ(metrics.num_labels(), 2);
  EXPECT_EQ(metrics.num_ranked(), 1);
  const std::vector<float> scores = {1, 2};
  const std::vector<uint8_t> labels = {0, 1};
  ScoreSums sums;
  metrics.Sum(scores, labels, &sums);
  EXPECT_EQ(sums.loss, 0);
  EXPECT_EQ(sums.positives, 0u);
  std::vector<ScoredExample> ranked;
  metrics.AppendRanked(scores, labels, &ranked);
  EXPECT_TRUE(ranked.empty());
  std::vector<float> predictions(2);
  metrics.Predict(scores, absl::MakeSpan(predictions));
  EXPECT_TRUE(std::isnan(predictions[0]) && std::isnan(predictions[1]));
}

}  // namespace
}  // namespace shoal
