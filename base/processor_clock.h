#ifndef SHOAL_BASE_PROCESSOR_CLOCK_H_
#define SHOAL_BASE_PROCESSOR_CLOCK_H_

#include "absl/time/time.h"
#include "base/sleeping_clock.h"

namespace shoal {

// The processor time of the thread that asks, user and system, since it
// started. It stands still while the thread waits or others have the core.
// SleepUntil computes until the time has come.
//
// Thread-safe, but a time that one thread has read means nothing to another.
class ProcessorClock final : public SleepingClock {
 public:
  absl::Time Now() const override;
  void SleepUntil(absl::Time time) override;
};

}  // namespace shoal

#endif  // SHOAL_BASE_PROCESSOR_CLOCK_H_
