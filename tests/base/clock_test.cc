#include "base/clock.h"

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

TEST(RealClock, StartsAtTheWallClockAndNeverGoesBackwards) {
  const absl::Time before = absl::Now();
  const RealClock clock;
  absl::Time last = clock.Now();
  // The wall clock itself may be stepped while the test runs.
  EXPECT_GE(last, before - absl::Seconds(60));
  EXPECT_LE(last, before + absl::Seconds(60));
  for (int i = 0; i < 1000; ++i) {
    const absl::Time now = clock.Now();
    ASSERT_GE(now, last);
    last = now;
  }
  while (clock.Now() == last) {
  }
}

}  // namespace
}  // namespace shoal
