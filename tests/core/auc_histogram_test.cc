#include "core/auc_histogram.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/philox.h"
#include "core/metrics.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

TEST(AucHistogramTest, TheExactAucLiesWithinTheError) {
  for (uint64_t seed = 0; seed < 2; ++seed) {
    // Spread over the range, dense, and so dense that bins hold many.
    for (const float spread : {8.0f, 0.01f, 1e-4f}) {
      std::vector<ScoredExample> examples;
      for (uint64_t i = 0; i < 20'000; ++i) {
        const Philox::Block r = Philox(seed)(1, i);
        const float u = static_cast<float>(r[0]) * 0x1p-32f;
        const uint8_t label = r[1] % 4 == 0;
        examples.push_back(
            {(u + 0.3f * static_cast<float>(label) - 1) * spread, label});
      }
      AucHistogram histogram;
      ASSERT_TRUE(histogram.Add(examples).ok());
      const AucEstimate estimate = histogram.Estimate();
      const double exact = ExactAuc(examples);
      EXPECT_LE(std::abs(estimate.auc - exact), estimate.error + 1e-12)
          << "seed " << seed << ", spread " << spread;
      // Not a bound that holds for lack of meaning.
      EXPECT_GT(estimate.error, 0);
      EXPECT_LT(estimate.error, spread < 0.001f ? 0.02 : 2e-4);
    }
  }
}

TEST(AucHistogramTest, TiesCountHalfAndAreAllTheError) {
  AucHistogram histogram;
  ASSERT_TRUE(histogram.Add({{1, 0}, {1, 1}, {1, 0}, {1, 1}}).ok());
  const AucEstimate estimate = histogram.Estimate();
  EXPECT_EQ(estimate.auc, 0.5);
  EXPECT_EQ(estimate.error, 0.5);
}

TEST(AucHistogramTest, ScoresOfDifferentBinsAreRankedExactly) {
  AucHistogram histogram;
  ASSERT_TRUE(histogram.Add({{0.1f, 0}, {0.4f, 0}}).ok());
  ASSERT_TRUE(histogram.Add({{0.35f, 1}, {0.8f, 1}}).ok());
  EXPECT_EQ(histogram.Estimate().auc, 0.75);
  EXPECT_EQ(histogram.Estimate().error, 0);
  EXPECT_EQ(histogram.examples(), 4u);
}

TEST(AucHistogramTest, BinsKeepTheOrderAndWhatLiesBeyondIsOutermost) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(AucHistogram::BinOf(-32), 0u);
  EXPECT_EQ(AucHistogram::BinOf(-kInf), 0u);
  EXPECT_EQ(AucHistogram::BinOf(std::nanf("")), 0u);
  EXPECT_EQ(AucHistogram::BinOf(0), AucHistogram::kBins / 2);
  EXPECT_EQ(AucHistogram::BinOf(32), AucHistogram::kBins - 1);
  EXPECT_EQ(AucHistogram::BinOf(kInf), AucHistogram::kBins - 1);
  uint32_t before = 0;
  for (float z = -33; z < 33; z += 0.37f) {
    EXPECT_GE(AucHistogram::BinOf(z), before);
    before = AucHistogram::BinOf(z);
  }
}

TEST(AucHistogramTest, OneClassOrNoneCannotBeRanked) {
  AucHistogram histogram;
  EXPECT_EQ(histogram.Estimate().auc, 0.5);
  ASSERT_TRUE(histogram.Add({{1, 1}, {2, 1}}).ok());
  EXPECT_EQ(histogram.Estimate().auc, 0.5);
  EXPECT_EQ(histogram.Estimate().error, 0);
}

}  // namespace
}  // namespace shoal
