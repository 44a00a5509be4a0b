#ifndef SHOAL_CORE_PATIENT_TIME_H_
#define SHOAL_CORE_PATIENT_TIME_H_

#include <algorithm>

#include "absl/time/time.h"

namespace shoal {

// The time by which a process measures the silence of other processes. The span
// between two events of the process counts as `longest_step` at most. So a
// process that was itself frozen, alone or with its whole host, does not take
// other processes for dead: their messages still wait in its queues.
//
//   PatientTime time(executor->Now(), heartbeat_interval);
//   time.Advance(executor->Now());  // at every event
//   if (time.now() - heard > silent_after) …
//
// Patient time is never ahead of the clock, and it keeps up with the clock as
// long as there is an event every `longest_step`. Thread-compatible.
class PatientTime {
 public:
  PatientTime(absl::Time start, absl::Duration longest_step)
      : longest_step_(longest_step), clock_(start), now_(start) {}

  // Takes the clock's present time. A clock that went back is ignored.
  void Advance(absl::Time clock) {
    if (clock <= clock_) return;
    now_ += std::min(clock - clock_, longest_step_);
    clock_ = clock;
  }

  absl::Time now() const { return now_; }
  // The latest time of the clock.
  absl::Time clock() const { return clock_; }

 private:
  const absl::Duration longest_step_;
  absl::Time clock_;
  absl::Time now_;
};

}  // namespace shoal

#endif  // SHOAL_CORE_PATIENT_TIME_H_
