#ifndef SHOAL_BASE_SLEEPING_CLOCK_H_
#define SHOAL_BASE_SLEEPING_CLOCK_H_

#include "absl/time/time.h"
#include "base/clock.h"

namespace shoal {

// SEAM: a clock on which a thread waits for a time. Implementations: the real
// one; the processor time of a thread (base/processor_clock.h); and the one of
// tests, which moves when it is waited on. Thread-safe.
class SleepingClock : public Clock {
 public:
  // Returns at `time` or as soon after it as the machine allows; at once if
  // `time` is past.
  virtual void SleepUntil(absl::Time time) = 0;
};

// A RealClock. Its sleeps are exact: a thread that has slept here asks the
// kernel for the least slack of its timers from then on (PR_SET_TIMERSLACK). A
// signal does not end a sleep.
class RealSleepingClock final : public SleepingClock {
 public:
  absl::Time Now() const override { return clock_.Now(); }
  void SleepUntil(absl::Time time) override;

 private:
  const RealClock clock_;
};

}  // namespace shoal

#endif  // SHOAL_BASE_SLEEPING_CLOCK_H_
