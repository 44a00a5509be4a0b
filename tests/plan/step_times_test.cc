#include "plan/step_times.h"

#include <algorithm>
#include <random>

#include "gtest/gtest.h"

namespace shoal {
namespace {

// Draws by the quantile function itself.
double MeanOf(const RelativeTimes& times, int n) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<> uniform(0, 1);
  double sum = 0;
  const int rounds = 200000 / n;
  for (int i = 0; i < rounds; ++i) {
    double most = 0;
    for (int k = 0; k < n; ++k) {
      most = std::max(most, times.Quantile(uniform(random)));
    }
    sum += most;
  }
  return sum / rounds;
}

const RelativeTimes kTimes = NormalizedTimes({.8, .95, 1.2, 2, 4, 500});

TEST(StepTimesTest, ANormalizedDistributionHasMeanOne) {
  EXPECT_NEAR(kTimes.Mean(), 1, 1e-12);
  EXPECT_NEAR(MeanOf(kTimes, 1), 1, .01);
}

TEST(StepTimesTest, TheSlowestOfManyIsThatOfDraws) {
  for (const int n : {2, 4, 16, 64, 1000}) {
    EXPECT_NEAR(kTimes.ExpectedMax(n) / MeanOf(kTimes, n), 1, .02) << n;
  }
}

TEST(StepTimesTest, TheShareBelowAQuantileIsItsShare) {
  for (const double u : {.05, .1, .3, .9, .95, .985}) {
    EXPECT_NEAR(kTimes.ShareBelow(kTimes.Quantile(u)), u, 1e-9) << u;
  }
  EXPECT_EQ(kTimes.ShareBelow(0), 0);
  EXPECT_EQ(kTimes.ShareBelow(kTimes.max), 1 - 1 / kTimes.count);
  EXPECT_EQ(kTimes.ShareBelow(2 * kTimes.max), 1);
  const RelativeTimes constant = NormalizedTimes({5, 5, 5, 5, 5});
  EXPECT_EQ(constant.ShareBelow(1), 0);
  EXPECT_EQ(constant.ShareBelow(1.01), 1);
}

TEST(StepTimesTest, VarianceIsThatOfDraws) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<> uniform(0, 1);
  double square = 0;
  for (int i = 0; i < 100000; ++i) {
    const double x = kTimes.Quantile(uniform(random)) - 1;
    square += x * x;
  }
  EXPECT_NEAR(kTimes.Variance() / (square / 100000), 1, .05);
}

TEST(StepTimesTest, OneHiccupHasTheShareOfOneTime) {
  const RelativeTimes even = NormalizedTimes({1, 1, 1, 1, 1, 1000});
  const RelativeTimes hiccup = NormalizedTimes({1, 1, 1, 1, 15, 1000});
  // 14 more once in 1,000 times: 1.4 % of the mean, and for each of 4 workers.
  EXPECT_NEAR(hiccup.ExpectedMax(4) / even.ExpectedMax(4),
              (1 + 4 * .014) / 1.014, 1e-3);
  EXPECT_NEAR(hiccup.max * 1.014, 15, 1e-3);
  // Of an unknown number of times, nothing is known of its share.
  EXPECT_NEAR(NormalizedTimes({1, 1, 1, 1, 15}).ExpectedMax(4), 1, 1e-9);
}

// Two in a hundred steps are pauses, of five times the usual time.
TEST(StepTimesTest, ThePausesOfFewStepsAreNotTheTimeOfMany) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<> uniform(0, 1);
  const auto draw = [&] {
    return uniform(random) < .02 ? 5 : .9 + .2 * uniform(random);
  };
  double slowest = 0;
  constexpr int kRounds = 20000;
  for (int i = 0; i < kRounds; ++i) {
    slowest += std::max({draw(), draw(), draw(), draw()});
  }
  constexpr double kMean = .98 + .02 * 5;
  slowest /= kRounds * kMean;
  const RelativeTimes quantiles = {.92, 1, 1.085, 5, 5, 5000};
  const RelativeTimes known = NormalizedTimes(quantiles, kMean);
  EXPECT_NEAR(known.ExpectedMax(4) / slowest, 1, .04);
  EXPECT_NEAR(known.p99 * kMean, 5, .05);
  EXPECT_GT(NormalizedTimes(quantiles).ExpectedMax(4) / slowest, 1.15);
  // A mean that no such curve has gives the nearest one.
  EXPECT_NEAR(NormalizedTimes(quantiles, .1).p98,
              NormalizedTimes(quantiles, .1).p90, 1e-9);
  EXPECT_NEAR(NormalizedTimes(quantiles, 9).ExpectedMax(4),
              NormalizedTimes(quantiles).ExpectedMax(4), 1e-9);
}

TEST(StepTimesTest, AConstantHasNoSpread) {
  const RelativeTimes constant = NormalizedTimes({5, 5, 5, 5, 5});
  EXPECT_NEAR(constant.ExpectedMax(1000), 1, 1e-9);
  EXPECT_NEAR(constant.Variance(), 0, 1e-12);
}

TEST(StepTimesTest, QuantilesThatCannotBeGiveAConstant) {
  EXPECT_EQ(NormalizedTimes({0, 0, 0, 0, 0}).max, 1);
  const RelativeTimes raised = NormalizedTimes({2, 1, 1, 1, 1});
  EXPECT_LE(raised.p10, raised.max);
}

}  // namespace
}  // namespace shoal
