#include "worker/train/worker_telemetry.h"

namespace shoal {
namespace {

constexpr std::array<const char*, kStepStates> kStateNames = {
    "compute",   "prepare",   "send",      "wait_lease",
    "wait_data", "wait_pull", "wait_push", "wait_pace",  "wait_step",
    "wait_ring",
};

}  // namespace

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
  for (size_t i = 0; i < kStepStates; ++i) {
    t.seconds[i] = telemetry->AddCounter(
        "shoal_worker_step_seconds_total",
        "Time of the train thread by what it did or waited for; the states add "
        "up to its time in the job.",
        {{"state", kStateNames[i]}});
  }
  return t;
}

void StepClock::Enter(StepState state, absl::Time now) {
  if (telemetry_ == nullptr) return;
  Stop(now);
  state_ = state;
  since_ = now;
}

void StepClock::Stop(absl::Time now) {
  if (telemetry_ == nullptr || since_ > now) return;
  telemetry_->seconds[static_cast<size_t>(state_)]->Add(
      absl::ToDoubleSeconds(now - since_));
  since_ = absl::InfiniteFuture();
}

}  // namespace shoal
