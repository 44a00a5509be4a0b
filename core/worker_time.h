#ifndef SHOAL_CORE_WORKER_TIME_H_
#define SHOAL_CORE_WORKER_TIME_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/histogram.h"

namespace shoal {

// The states of a worker's train strand: it is in exactly one of them at every
// moment, so that their times add up to the worker's time in the job. The state
// with the longest wait is what limits the worker.
enum class StepState : uint8_t {
  kCompute,    // forward, backward, checks
  kPrepare,    // turning ids of a batch into distinct ids by shard
  kSend,       // starting pulls and pushes; without a network also the shard's
               // work on them
  kWaitLease,  // waiting for the coordinator to lease a piece
  kWaitData,   // waiting for a batch to be read
  kWaitPull,   // waiting for a pull's answer
  kWaitPush,   // waiting for a push's answer, because no more may be in flight
  kWaitPace,   // waiting for slower workers (core/step_messages.h, Pace)
  kWaitStep,   // waiting for the other ranks of a step, or for servers
  kWaitRing,   // waiting for the other ranks of a ring, or a step's push
};
inline constexpr size_t kStepStates = 10;

// The names of the states, as metrics and the summary have them.
inline constexpr std::array<const char*, kStepStates> kStepStateNames = {
    "compute",   "prepare",   "send",      "wait_lease", "wait_data",
    "wait_pull", "wait_push", "wait_pace", "wait_step",  "wait_ring",
};

// Seconds by StepState.
using StateSeconds = std::array<double, kStepStates>;

// How long the steps of one worker or of several took, each from the end of one
// batch to the end of the next, in whole microseconds. A step longer than an
// hour counts as one of an hour, so the distribution has at most some 2,500
// buckets.
struct StepTimes {
  static constexpr uint64_t kMostMicros = 3'600'000'000;

  Histogram micros;
  double square_sum = 0;  // sum of the squares of the steps, in seconds

  void Merge(const StepTimes& other) {
    micros.Merge(other.micros);
    square_sum += other.square_sum;
  }
};

// The time of a worker life since it registered.
struct WorkerTime {
  StateSeconds seconds = {};
  StepTimes steps;  // after the worker's warm-up
};

}  // namespace shoal

#endif  // SHOAL_CORE_WORKER_TIME_H_
