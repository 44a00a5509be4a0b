#include "base/sleeping_clock.h"

#include <errno.h>
#include <sys/prctl.h>
#include <time.h>

namespace shoal {

void RealSleepingClock::SleepUntil(absl::Time time) {
  const absl::Duration left = time - Now();
  if (left <= absl::ZeroDuration()) return;
  // By default the kernel ends a sleep up to 50 us late, to save wake-ups.
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until = absl::ToTimespec(absl::DurationFromTimespec(until) + left);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) ==
         EINTR) {
  }
}

}  // namespace shoal
