#ifndef SHOAL_WORKER_TRAIN_WORKER_TELEMETRY_H_
#define SHOAL_WORKER_TRAIN_WORKER_TELEMETRY_H_

#include <array>
#include <cstddef>

#include "absl/time/time.h"
#include "base/telemetry.h"

namespace shoal {

// The states of the train strand: it is in exactly one of them at every moment,
// so that their times add up to the worker's time in the job. The state with
// the longest wait is what limits the worker.
enum class StepState {
  kCompute,    // forward, backward, checks
  kPrepare,    // turning ids of a batch into distinct ids by shard
  kSend,       // starting pulls and pushes; without a network also the shard's
               // work on them
  kWaitLease,  // waiting for the coordinator to lease a piece
  kWaitData,   // waiting for a batch to be read
  kWaitPull,   // waiting for a pull's answer
  kWaitPush,   // waiting for a push's answer, because no more may be in flight
  kWaitPace,   // waiting for slower workers (core/step_messages.h, Pace)
  kWaitStep,   // waiting for the other ranks of a step
  kWaitRing,   // waiting for the other ranks of a ring
};
inline constexpr size_t kStepStates = 10;

// The metrics of a worker (docs/metrics.md). Several workers of one process
// share them; sums are then over all of them. Thread-safe; cheap to copy.
struct WorkerTelemetry {
  // `telemetry` must outlive every use.
  static WorkerTelemetry Create(Telemetry* telemetry);

  Counter* examples = nullptr;
  Counter* batches = nullptr;
  Counter* batches_rejected = nullptr;
  Counter* batches_dropped = nullptr;
  Counter* evaluated = nullptr;  // examples scored
  Counter* retries = nullptr;    // retries of pulls and pushes, by any layer
  Gauge* loss = nullptr;
  Gauge* pulls_in_flight = nullptr;
  Gauge* pushes_in_flight = nullptr;
  Distribution* pull_seconds = nullptr;
  Distribution* push_seconds = nullptr;
  std::array<Counter*, kStepStates> seconds = {};  // by StepState
};

// Adds the time in each state to the state's counter. Owned by one strand.
class StepClock {
 public:
  // `telemetry` may be nullptr; then nothing is measured.
  explicit StepClock(const WorkerTelemetry* telemetry)
      : telemetry_(telemetry) {}

  void Enter(StepState state, absl::Time now);
  // Stops measuring until the next Enter.
  void Stop(absl::Time now);
  StepState state() const { return state_; }

 private:
  const WorkerTelemetry* const telemetry_;
  StepState state_ = StepState::kWaitLease;
  absl::Time since_ = absl::InfiniteFuture();  // InfiniteFuture: stopped
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_WORKER_TELEMETRY_H_
