#include "core/metrics.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/philox.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

// The definition itself: every positive against every negative.
double BruteForceAuc(const std::vector<float>& scores,
                     const std::vector<uint8_t>& labels) {
  double won = 0;
  double pairs = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (labels[i] == 0) continue;
    for (size_t j = 0; j < scores.size(); ++j) {
      if (labels[j] != 0) continue;
      won += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
      pairs += 1;
    }
  }
  return won / pairs;
}

TEST(ExactAuc, EqualsTheDefinitionWithAndWithoutTies) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    // From a handful of scores, nearly all tied, to all different.
    for (const uint32_t levels : {2u, 7u, 1u << 24}) {
      std::vector<float> scores;
      std::vector<uint8_t> labels;
      for (uint64_t i = 0; i < 200; ++i) {
        const Philox::Block r = Philox(seed)(levels, i);
        scores.push_back(static_cast<float>(r[0] % levels) - 3);
        labels.push_back(r[1] % 3 == 0);
      }
      EXPECT_DOUBLE_EQ(ExactAuc(scores, labels), BruteForceAuc(scores, labels))
          << "seed " << seed << ", levels " << levels;
    }
  }
}

TEST(ExactAuc, KnownCases) {
  EXPECT_EQ(ExactAuc({0.1f, 0.4f, 0.35f, 0.8f}, {0, 0, 1, 1}), 0.75);
  EXPECT_EQ(ExactAuc({1, 2, 3, 4}, {0, 0, 1, 1}), 1);
  EXPECT_EQ(ExactAuc({4, 3, 2, 1}, {0, 0, 1, 1}), 0);
  EXPECT_EQ(ExactAuc({5, 5, 5, 5}, {0, 1, 0, 1}), 0.5);
  EXPECT_EQ(ExactAuc({0.0f, -0.0f}, {0, 1}), 0.5) << "zeros are equal";
}

TEST(ExactAuc, OneClassOrNoneCannotBeRanked) {
  EXPECT_EQ(ExactAuc({}, {}), 0.5);
  EXPECT_EQ(ExactAuc({1, 2}, {1, 1}), 0.5);
  EXPECT_EQ(ExactAuc({1, 2}, {0, 0}), 0.5);
}

TEST(ExactAuc, InfiniteScoresRankAndNanIsTheLowest) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(ExactAuc({-kInf, 0, kInf}, {0, 0, 1}), 1);
  EXPECT_EQ(ExactAuc({kNan, kNan, 1}, {0, 0, 1}), 1);
  EXPECT_EQ(ExactAuc({1, kNan, 2}, {0, 1, 0}), 0);
  EXPECT_EQ(ExactAuc({kNan, kNan}, {0, 1}), 0.5);
}

TEST(MeanLogLoss, IsTheMeanOverTheExamples) {
  EXPECT_EQ(MeanLogLoss({}, {}), 0);
  EXPECT_DOUBLE_EQ(MeanLogLoss({0, 0}, {0, 1}), std::log(2.0));
  const double p = 1 / (1 + std::exp(-1.5));
  EXPECT_NEAR(MeanLogLoss({1.5f, 1.5f}, {1, 0}),
              (-std::log(p) - std::log(1 - p)) / 2, 1e-12);
}

TEST(MeanLogLoss, ExtremeLogitsNeitherOverflowNorVanish) {
  constexpr float kMax = std::numeric_limits<float>::max();
  EXPECT_EQ(MeanLogLoss({1000}, {0}), 1000);
  EXPECT_EQ(MeanLogLoss({-1000}, {1}), 1000);
  EXPECT_EQ(MeanLogLoss({1000, -1000}, {1, 0}), 0);
  EXPECT_EQ(MeanLogLoss({kMax}, {0}), kMax);
  EXPECT_NEAR(MeanLogLoss({-30}, {0}), std::exp(-30.0), 1e-20);
}

TEST(Probability, IsTheSigmoidWithoutOverflow) {
  EXPECT_EQ(Probability(0), 0.5);
  EXPECT_NEAR(Probability(1.5f), 1 / (1 + std::exp(-1.5)), 1e-15);
  EXPECT_NEAR(Probability(-1.5f), 1 / (1 + std::exp(1.5)), 1e-15);
  EXPECT_EQ(Probability(1000), 1);
  EXPECT_EQ(Probability(-1000), 0);
}

}  // namespace
}  // namespace shoal
