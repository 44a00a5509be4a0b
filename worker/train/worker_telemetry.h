#ifndef SHOAL_WORKER_TRAIN_WORKER_TELEMETRY_H_
#define SHOAL_WORKER_TRAIN_WORKER_TELEMETRY_H_

#include <array>

#include "base/telemetry.h"
#include "core/payload_bytes.h"
#include "core/worker_time.h"

namespace shoal {

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
  Distribution* step_seconds = nullptr;
  std::array<Counter*, kStepStates> seconds = {};  // by StepState
};

// Adds shoal_worker_payload_bytes_total to `telemetry`, of the worker in this
// process; null: there are zeros, since the worker has no network. `bytes`
// outlives the telemetry's readers.
void ExportWorkerBytes(Telemetry* telemetry, const PayloadCounters* bytes);

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_WORKER_TELEMETRY_H_
