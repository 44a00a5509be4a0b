#include "cluster/job_curve.h"

#include "gtest/gtest.h"

namespace shoal {
namespace {

TEST(JobCurveTest, ThePointsOfALongJobStayFewAndAtEqualDistances) {
  JobCurve curve;
  const absl::Duration tick = absl::Milliseconds(100);
  uint64_t samples = 0;
  for (absl::Duration at; at < absl::Hours(1); at += tick) {
    if (curve.Due(at)) curve.Add({at, ++samples, 0.5, 0.75});
    ASSERT_LE(curve.points().size(), JobCurve::kPoints);
  }
  const auto& points = curve.points();
  EXPECT_GE(points.size(), JobCurve::kPoints / 2);
  EXPECT_EQ(points.front().at, absl::ZeroDuration());
  EXPECT_GT(points.back().at, absl::Minutes(59));
  // 250 ms, doubled 7 times.
  const absl::Duration distance = absl::Seconds(32);
  for (size_t i = 1; i < points.size(); ++i) {
    EXPECT_LE(absl::AbsDuration(points[i].at - points[i - 1].at - distance),
              tick)
        << i;
    EXPECT_GT(points[i].samples, points[i - 1].samples);
  }
}

TEST(JobCurveTest, APointThatIsNotDueMayBeAddedButNoSecondOneOfItsTime) {
  JobCurve curve;
  curve.Add({absl::Seconds(1), 10, 0, 0});
  EXPECT_FALSE(curve.Due(absl::Milliseconds(1249)));
  EXPECT_TRUE(curve.Due(absl::Milliseconds(1250)));
  curve.Add({absl::Seconds(1.1), 20, 0, 0});
  curve.Add({absl::Seconds(1.1), 30, 0, 0});
  ASSERT_EQ(curve.points().size(), 2u);
  EXPECT_EQ(curve.points()[1].samples, 20u);
}

// The newest point is the one that readers look at.
TEST(JobCurveTest, TheNewestPointIsKept) {
  JobCurve curve;
  for (int i = 0; i < 1000; ++i) {
    curve.Add({absl::Seconds(i), static_cast<uint64_t>(i), 0, 0});
    ASSERT_EQ(curve.points().back().at, absl::Seconds(i));
  }
}

}  // namespace
}  // namespace shoal
