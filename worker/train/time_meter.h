#ifndef SHOAL_WORKER_TRAIN_TIME_METER_H_
#define SHOAL_WORKER_TRAIN_TIME_METER_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "core/worker_time.h"
#include "worker/train/worker_telemetry.h"

namespace shoal {

// The time of one worker life by what its train strand did or waited for, and
// the times of its steps. Thread-safe: the train strand tells, the heartbeat
// reads. Times do not go back.
class TimeMeter {
 public:
  // The first `warmup_steps` steps are not among the step times. `telemetry`
  // has both too, the steps of the warm-up among them; it may be nullptr.
  explicit TimeMeter(const WorkerTelemetry* telemetry,
                     uint64_t warmup_steps = 0)
      : telemetry_(telemetry), warmup_left_(warmup_steps) {}

  // The strand is in this state from now on.
  void Enter(StepState state, absl::Time now);

  // A batch that is trained has ended. The step lasted since the end of the
  // batch before, without the waits for a lease.
  void EndStep(absl::Time now);
  // What the strand did since the last batch ended belongs to no step: it
  // scored a batch, or stood still for a checkpoint. The next batch that ends
  // has no step time.
  void LeaveOut();

  // The time up to now.
  WorkerTime Read(absl::Time now) const;

 private:
  // The part of the present wait for a lease that lies behind step_from_.
  absl::Duration LeaseWait(absl::Time now) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const WorkerTelemetry* const telemetry_;
  mutable Mutex mu_;
  WorkerTime time_ ABSL_GUARDED_BY(mu_);
  StepState state_ ABSL_GUARDED_BY(mu_) = StepState::kWaitLease;
  // InfiniteFuture: in no state yet.
  absl::Time since_ ABSL_GUARDED_BY(mu_) = absl::InfiniteFuture();
  uint64_t warmup_left_ ABSL_GUARDED_BY(mu_);
  // When the newest batch ended, moved on by the waits for a lease since then;
  // InfiniteFuture: the next batch has no step time.
  absl::Time step_from_ ABSL_GUARDED_BY(mu_) = absl::InfiniteFuture();
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_TIME_METER_H_
