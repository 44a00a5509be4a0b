#include "worker/train/worker_telemetry.h"

#include <cstddef>
#include <cstdint>

namespace shoal {
WorkerTelemetry WorkerTelemetry::Create(Telemetry* telemetry) {
  WorkerTelemetry t;
  t.examples = telemetry->AddCounter(
      "shoal_worker_examples_total",
      "Examples in batches that every shard has applied.");
  t.batches = telemetry->AddCounter("shoal_worker_batches_total",
                                    "Batches that every shard has applied.");
  t.batches_rejected = telemetry->AddCounter(
      "shoal_worker_batches_rejected_total",
      "Batches whose loss or gradient was not finite; they changed no "
      "parameter.");
  t.batches_dropped = telemetry->AddCounter(
      "shoal_worker_batches_dropped_total",
      "Batches that came too late for their step; they are trained again.");
  t.evaluated = telemetry->AddCounter("shoal_worker_examples_scored_total",
                                      "Examples scored for an evaluation.");
  t.retries = telemetry->AddCounter(
      "shoal_worker_retries_total",
      "Pulls and pushes that were retried after a passing failure.");
  t.loss = telemetry->AddGauge("shoal_worker_loss",
                               "Mean loss of the newest batch.");
  t.pulls_in_flight = telemetry->AddGauge(
      "shoal_worker_requests_in_flight",
      "Pulls and pushes of batches in flight.", {{"kind", "pull"}});
  t.pushes_in_flight = telemetry->AddGauge(
      "shoal_worker_requests_in_flight",
      "Pulls and pushes of batches in flight.", {{"kind", "push"}});
  t.pull_seconds = telemetry->AddDistribution(
      "shoal_worker_pull_seconds",
      "Time from a batch's pull, sent to all shards, to the last answer.",
      RequestSecondsBounds());
  t.push_seconds = telemetry->AddDistribution(
      "shoal_worker_push_seconds",
      "Time from a batch's push, sent to all shards, to the last answer.",
      RequestSecondsBounds());
  t.step_seconds = telemetry->AddDistribution(
      "shoal_worker_step_interval_seconds",
      "Time from the end of one batch to the end of the next, without waits "
      "for a lease.",
      RequestSecondsBounds());
  for (size_t i = 0; i < kStepStates; ++i) {
    t.seconds[i] = telemetry->AddCounter(
        "shoal_worker_step_seconds_total",
        "Time of the train thread by what it did or waited for; the states add "
        "up to its time in the job.",
        {{"state", kStepStateNames[i]}});
  }
  return t;
}

void ExportWorkerBytes(Telemetry* telemetry, const PayloadCounters* bytes) {
  const auto counter = [telemetry](const char* peer, const char* method,
                                   const char* direction) {
    return telemetry->AddCounter(
        "shoal_worker_payload_bytes_total",
        "Ids, values and gradients that the worker exchanged with servers, and "
        "data that it exchanged with other ranks.",
        {{"peer", peer}, {"method", method}, {"direction", direction}});
  };
  const std::array<Counter*, 6> counters = {
      counter("ps", "pull", "sent"),     counter("ps", "pull", "received"),
      counter("ps", "push", "sent"),     counter("ps", "push", "received"),
      counter("worker", "ring", "sent"), counter("worker", "ring", "received"),
  };
  if (bytes == nullptr) return;
  telemetry->OnCollect([counters, bytes] {
    const PayloadBytes now = bytes->Read();
    const std::array<uint64_t, 6> values = {
        now.pull.sent,     now.pull.received, now.push.sent,
        now.push.received, now.ring.sent,     now.ring.received};
    for (size_t i = 0; i < counters.size(); ++i) {
      counters[i]->Set(static_cast<double>(values[i]));
    }
  });
}

}  // namespace shoal
