#ifndef SHOAL_CORE_PATIENT_TIME_H_
#define SHOAL_CORE_PATIENT_TIME_H_

#include <algorithm>

#include "absl/time/time.h"

namespace shoal {

// The time in which a process judges the silence of others: the span between
// two of its own events counts as `longest_step` at most. A process that was
// itself frozen, alone or with its whole host, so takes no other process for
// dead: what the others said meanwhile still lies in its queues.
//
//   PatientTime time(executor->Now(), heartbeat_interval);
//   time.Advance(executor->Now());  // at every event
//   if (time.now() - heard > silent_after) …
//
// It is never ahead of the clock, and it keeps up with the clock as long as
// there is an event every `longest_step`. Thread-compatible.
class PatientTime {
 public:
  PatientTime(absl::Time start, absl::Duration longest_step)
      : longest_step_(longest_step), clock_(start), now_(start) {}

  // The clock says `clock`. One that went back is ignored.
  void Advance(absl::Time clock) {
    if (clock <= clock_) return;
    now_ += std::min(clock - clock_, longest_step_);
    clock_ = clock;
  }

  absl::Time now() const { return now_; }
  // What the clock said last.
  absl::Time clock() const { return clock_; }

 private:
  const absl::Duration longest_step_;
  absl::Time clock_;
  absl::Time now_;
};

}  // namespace shoal

#endif  // SHOAL_CORE_PATIENT_TIME_H_
