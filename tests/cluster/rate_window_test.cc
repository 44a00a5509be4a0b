#include "cluster/rate_window.h"

#include "gtest/gtest.h"

namespace shoal {
namespace {

absl::Time RateAt(double seconds) {
  return absl::UnixEpoch() + absl::Seconds(seconds);
}

TEST(RateWindowTest, IsTheGrowthOverTheWindow) {
  RateWindow rate(absl::Seconds(5));
  EXPECT_EQ(rate.PerSecond(), 0);
  rate.Add(0, RateAt(0));
  EXPECT_EQ(rate.PerSecond(), 0);
  rate.Add(30, RateAt(1));
  EXPECT_DOUBLE_EQ(rate.PerSecond(), 30);
  for (int i = 2; i <= 60; ++i) rate.Add(30 + 10 * (i - 1), RateAt(i));
  EXPECT_NEAR(rate.PerSecond(), 10, 1e-9) << "the fast start is forgotten";
}

TEST(RateWindowTest, FallsToZeroWhenNothingGrows) {
  RateWindow rate(absl::Seconds(5));
  rate.Add(0, RateAt(0));
  rate.Add(1000, RateAt(1));
  for (int i = 2; i < 20; ++i) rate.Add(1000, RateAt(i));
  EXPECT_EQ(rate.PerSecond(), 0);
}

TEST(RateWindowTest, ManyPointsASecondMeasureTheSame) {
  RateWindow rate(absl::Seconds(5));
  for (int i = 0; i <= 100'000; ++i) rate.Add(i, RateAt(i / 1000.0));
  EXPECT_NEAR(rate.PerSecond(), 1000, 1);
}

}  // namespace
}  // namespace shoal
