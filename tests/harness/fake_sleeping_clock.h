#ifndef SHOAL_TESTS_HARNESS_FAKE_SLEEPING_CLOCK_H_
#define SHOAL_TESTS_HARNESS_FAKE_SLEEPING_CLOCK_H_

#include <algorithm>

#include "absl/time/time.h"
#include "base/sleeping_clock.h"

namespace shoal {

// A clock that moves only when it is told to or waited on. Thread-compatible.
class FakeSleepingClock final : public SleepingClock {
 public:
  absl::Time Now() const override { return now_; }
  void SleepUntil(absl::Time time) override {
    if (time > now_) now_ = time + oversleep;
  }
  void Advance(absl::Duration by) { now_ += by; }
  absl::Duration SinceStart() const { return now_ - kStart; }

  absl::Duration oversleep;  // the time by which every sleep is too long

 private:
  static constexpr absl::Time kStart = absl::UnixEpoch();
  absl::Time now_ = kStart;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_HARNESS_FAKE_SLEEPING_CLOCK_H_
