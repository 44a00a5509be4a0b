#ifndef SHOAL_BASE_CLOCK_H_
#define SHOAL_BASE_CLOCK_H_

#include "absl/time/time.h"

namespace shoal {

// SEAM: the time. Implementations: the real clock, and the simulator's
// (tests/harness). Never goes backwards within one process; ProcessorClock
// (base/processor_clock.h), the one exception, within one thread. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual absl::Time Now() const = 0;
};

// The wall clock read at construction, advanced by the monotonic clock.
class RealClock final : public Clock {
 public:
  RealClock();
  absl::Time Now() const override;

 private:
  const absl::Time wall_start_;
  const int64_t steady_start_ns_;
};

}  // namespace shoal

#endif  // SHOAL_BASE_CLOCK_H_
