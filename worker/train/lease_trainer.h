#ifndef SHOAL_WORKER_TRAIN_LEASE_TRAINER_H_
#define SHOAL_WORKER_TRAIN_LEASE_TRAINER_H_

#include <cstdint>
#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/executor.h"
#include "base/logger.h"
#include "base/saturating.h"
#include "core/lease.h"
#include "core/mark.h"
#include "models/model.h"
#include "worker/client/sharded_client.h"
#include "worker/client/unique_ids.h"
#include "worker/data/batch_source.h"
#include "worker/train/gradient_exchange.h"
#include "worker/train/lease_queue.h"
#include "worker/train/progress_meter.h"
#include "worker/train/score_sender.h"
#include "worker/train/step_pipeline.h"
#include "worker/train/worker_telemetry.h"

namespace shoal {

struct LeaseTrainerOptions {
  int field_size = 0;
  // When batch t + 1 is pulled. 0: after the push of t was acknowledged; 1:
  // beside the push of t, so that the two overlap; 2 and more: depth - 1
  // batches before t is computed, which hides the network, and each of them
  // adds a step of staleness. Costs one TrainStep of memory each.
  int pipeline_depth = 1;
  // Largest norm of a batch's gradient (gradient_check.h); 0: no limit.
  double clip_norm = 0;
  ScoreSenderOptions scores;  // of evaluations
  // Pause before a pull or push that failed for a passing reason is sent again.
  absl::Duration retry_pause = absl::Milliseconds(200);
  // How long one batch may be refused for lack of room (RESOURCE_EXHAUSTED)
  // before that is the worker's failure: a limit that is set too low never has
  // room.
  absl::Duration full_patience = absl::Seconds(10);

  // Batches whose pulls or pushes are under way at once, at most.
  uint64_t batches_in_flight() const {
    return static_cast<uint64_t>(pipeline_depth) + 1;
  }
  // What the steps of one trainer take at most: those read, those pulled and
  // those pushed.
  uint64_t MemoryBytes(const StepSize& size) const {
    return SaturatingTimes(TrainStepMemoryBytes(size),
                           2 * batches_in_flight() + 1);
  }
};

// Everything that a trainer needs from its composition; all outlive it.
struct LeaseTrainerDependencies {
  Model* model = nullptr;
  ProgressMeter* progress = nullptr;
  Logger* logger = nullptr;
  Executor* strand = nullptr;
  // Opens the batches of a lease; called on the strand.
  LeaseQueue::OpenSource* open_source = nullptr;
  // May be nullptr: nothing is measured.
  const WorkerTelemetry* telemetry = nullptr;
};

// Trains (or scores) leased pieces for one worker life: a state machine that
// never blocks its strand on a call. Its leases, and what it reports of them
// with `send`: lease_queue.h. Which step goes on: step_pipeline.h. What becomes
// of a gradient: gradient_exchange.h.
//
// Batches are computed in the order in which they were read. One whose loss or
// gradient is not finite, or that the lease names as rejected by a shard
// (Lease::rejected), is handed on as rejected, and counts for nothing in the
// progress. A pull, or the Finish of an exchange, that fails for a passing
// reason (UNAVAILABLE, DEADLINE_EXCEEDED) is asked for again, with the same
// batch id, for as long as the life lasts: the coordinator decides who is dead.
// RESOURCE_EXHAUSTED may pass too, but not for longer than full_patience. Any
// other error is reported as Failure. (A service may retry by itself before it
// reports: rpc/retrying_parameter_service.h.)
//
// Owned by the strand. Held by shared_ptr, since calls in flight keep the
// memory that they point into.
class LeaseTrainer : public std::enable_shared_from_this<LeaseTrainer> {
 public:
  using Send = LeaseQueue::Send;

  // Pulls with `client`, which the exchange may use too.
  LeaseTrainer(LeaseTrainerOptions options, LeaseTrainerDependencies deps,
               std::unique_ptr<ShardedClient> client,
               std::unique_ptr<GradientExchange> exchange, Send send);

  // Asks for the first lease.
  void Start();
  void AddLease(Lease lease);

  // The life is over: forgets its leases, sends nothing more, and ignores what
  // comes back from calls in flight.
  void Abandon();

  // Begins no further batch and calls `held` once none is in flight; what was
  // read stays. Leases that come from then on, until Resume, are trained all
  // the same, before what was read: the coordinator gives a held worker the
  // batches that some shards have and others lack (cluster/checkpoint_saver.h).
  // The callback is dropped if the life ends first.
  void Hold(absl::AnyInvocable<void() &&> held);
  // Goes on after Hold; `held` is not called any more.
  void Resume();

  // Takes no further batch and calls `idle` once none is in flight.
  void Drain(absl::AnyInvocable<void() &&> idle);

 private:
  using Step = StepPipeline::Step;

  // A batch's way; after each arrow Pump moves on whatever the pipeline lets go
  // on:
  //   ReadNext → StartPull → SendPull → OnPulled → ComputeNext → Finish →
  //   OnFinished → EndStep
  // A pull or Finish whose failure may pass is asked for again by On…ed.
  void Pump();
  void ReadNext();
  void StartPull(Step step);
  void SendPull(Step step);
  void OnPulled(Step step, absl::Status status);
  void ComputeNext();
  void Evaluate(Step step);
  void Train(Step step);
  void Finish(Step step);
  void OnFinished(Step step, absl::StatusOr<Verdict> verdict);
  void EndStep(Step step);
  // True if `status` may pass; reports it as the worker's failure otherwise.
  bool MayPass(const absl::Status& status, PipelineStep* step);
  // Tells the clock what the strand now waits for.
  void EnterWait();
  void MeasureFinished(const PipelineStep& step, Verdict verdict);

  const LeaseTrainerOptions options_;
  const LeaseTrainerDependencies deps_;
  const std::unique_ptr<ShardedClient> client_;
  const std::unique_ptr<GradientExchange> exchange_;
  LeaseQueue leases_;

  StepPipeline pipeline_;
  absl::AnyInvocable<void() &&> held_;     // until it is held
  absl::AnyInvocable<void() &&> drained_;  // until it is drained
  UniqueIds unique_;
  StepClock clock_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_LEASE_TRAINER_H_
