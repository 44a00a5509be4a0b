#include "base/sleeping_clock.h"

#include "gtest/gtest.h"

namespace shoal {
namespace {

TEST(RealSleepingClockTest, DoesNotReturnBeforeTheTime) {
  RealSleepingClock clock;
  for (int i = 0; i < 5; ++i) {
    const absl::Time until = clock.Now() + absl::Microseconds(1500);
    clock.SleepUntil(until);
    EXPECT_GE(clock.Now(), until);
  }
}

TEST(RealSleepingClockTest, ATimeThatIsPastIsNotWaitedFor) {
  RealSleepingClock clock;
  clock.SleepUntil(clock.Now() - absl::Hours(1));
  clock.SleepUntil(absl::InfinitePast());
}

}  // namespace
}  // namespace shoal
