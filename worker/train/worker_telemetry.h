#ifndef SHOAL_WORKER_TRAIN_WORKER_TELEMETRY_H_
#define SHOAL_WORKER_TRAIN_WORKER_TELEMETRY_H_

#include <array>
#include <cstddef>

#include "absl/time/time.h"
#include "base/telemetry.h"

namespace shoal {

// What the train strand does, or waits for: at every moment one of these, so
// that their times add up to the time that the worker was there. What it waits
// for most is what holds the worker up.
enum class StepState {
  kCompute,    // forward, backward, checks
  kPrepare,    // ids of a batch to distinct ids by shard
  kSend,       // starting pulls and pushes; without a network also the shard's
               // own work on them
  kWaitLease,  // for the coordinator to lease a piece
  kWaitData,   // for a batch to be read
  kWaitPull,   // for a pull's answer
  kWaitPush,   // for a push's answer, before more may be in flight
};
inline constexpr size_t kStepStates = 7;

// The metrics of a worker (docs/metrics.md). Several workers of one process
// share them: sums are then of all. Thread-safe; copied freely.
struct WorkerTelemetry {
  // `telemetry` outlives every use.
  static WorkerTelemetry Create(Telemetry* telemetry);

  Counter* examples = nullptr;
  Counter* batches = nullptr;
  Counter* batches_rejected = nullptr;
  Counter* evaluated = nullptr;  // examples scored
  Counter* retries = nullptr;    // of pulls and pushes, by any layer
  Gauge* loss = nullptr;
  Gauge* pulls_in_flight = nullptr;
  Gauge* pushes_in_flight = nullptr;
  Distribution* pull_seconds = nullptr;
  Distribution* push_seconds = nullptr;
  std::array<Counter*, kStepStates> seconds = {};  // by StepState
};

// Adds the time in each state to its counter. Owned by one strand.
class StepClock {
 public:
  // `telemetry` may be nullptr: nothing is measured.
  explicit StepClock(const WorkerTelemetry* telemetry)
      : telemetry_(telemetry) {}

  void Enter(StepState state, absl::Time now);
  // Nothing is measured until the next Enter.
  void Stop(absl::Time now);
  StepState state() const { return state_; }

 private:
  const WorkerTelemetry* const telemetry_;
  StepState state_ = StepState::kWaitLease;
  absl::Time since_ = absl::InfiniteFuture();  // InfiniteFuture: stopped
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_WORKER_TELEMETRY_H_
