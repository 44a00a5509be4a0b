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
#include "core/rank_board.h"
#include "core/step_messages.h"
#include "core/unique_ids.h"
#include "models/model.h"
#include "worker/client/sharded_client.h"
#include "worker/data/batch_source.h"
#include "worker/train/gradient_exchange.h"
#include "worker/train/lease_queue.h"
#include "worker/train/progress_meter.h"
#include "worker/train/score_sender.h"
#include "worker/train/step_pipeline.h"
#include "worker/train/time_meter.h"
#include "worker/train/worker_telemetry.h"

namespace shoal {

struct LeaseTrainerOptions {
  int field_size = 0;
  // Number of batches by which pulls run ahead. With 0, batch t + 1 is pulled
  // after the push of t was acknowledged. With 1, it is pulled during the push
  // of t, so that the two overlap. With 2 and more, it is pulled depth - 1
  // batches before t is computed, which hides the network; each of these
  // batches adds a step of staleness. Each unit of depth costs the memory of
  // one TrainStep.
  int pipeline_depth = 1;
  // The loss of which the exchange gets the gradients.
  StepLoss loss = StepLoss::kMean;
  // False: a pull for training creates no rows (PullRequest::read_only), so
  // that rows come into existence by pushes alone. In a mode whose workers have
  // replicas, all replicas get the same pushes, but each only its own pulls.
  bool pulls_create_rows = true;
  // Largest norm of the gradient of a batch's mean loss (gradient_check.h), in
  // every mode of training; 0: no limit.
  double clip_norm = 0;
  ScoreSenderOptions scores;  // options for evaluations
  // Pause before a pull or push that failed for a passing reason is sent again.
  absl::Duration retry_pause = absl::Milliseconds(200);
  // Time for which one batch may be refused for lack of room
  // (RESOURCE_EXHAUSTED) before the worker fails: a limit that is too low never
  // has room.
  absl::Duration full_patience = absl::Seconds(10);

  // The most batches whose pulls or pushes are in flight at once.
  uint64_t batches_in_flight() const {
    return static_cast<uint64_t>(pipeline_depth) + 1;
  }
  // The most memory, in bytes, that the steps of one trainer take: steps that
  // are read, pulled and pushed.
  uint64_t MemoryBytes(const StepSize& size) const {
    return SaturatingTimes(TrainStepMemoryBytes(size),
                           2 * batches_in_flight() + 1);
  }
};

// The objects that a trainer uses. All must outlive the trainer.
struct LeaseTrainerDependencies {
  Model* model = nullptr;
  ProgressMeter* progress = nullptr;
  TimeMeter* time = nullptr;
  Logger* logger = nullptr;
  Executor* strand = nullptr;
  // Opens the batches of a lease; called on the strand.
  LeaseQueue::OpenSource* open_source = nullptr;
  // May be nullptr; then nothing is measured.
  const WorkerTelemetry* telemetry = nullptr;
  // Where the worker stands is told here; may be nullptr.
  RankBoard* board = nullptr;
};

// Trains (or scores) leased pieces for one worker life, or for one generation
// of ranks of that life (core/generation_messages.h): a state machine that
// never blocks its strand on a call. lease_queue.h holds the leases and reports
// on them with `send`. step_pipeline.h decides which step goes on.
// gradient_exchange.h takes the gradients.
//
// Batches are computed in the order in which they were read. A batch whose loss
// or gradient is not finite, or that the lease names as rejected by a shard
// (Lease::rejected), is passed on as rejected and does not count in the
// progress. A pull, or the Finish of an exchange, that fails for a passing
// reason (UNAVAILABLE, DEADLINE_EXCEEDED) is retried with the same batch id for
// as long as the life lasts: the coordinator decides which processes are dead.
// RESOURCE_EXHAUSTED is retried too, but not for longer than full_patience. A
// step whose Finish ends with ABORTED, because the job holds before it, is kept
// with its gradient: it is finished again at Resume or, if no hold is on, after
// retry_pause. Any other error is reported as Failure. (A service may retry by
// itself before it reports: rpc/retrying_parameter_service.h.)
//
// A batch that was dropped from its step counts neither as trained nor as
// rejected. Its lease is done all the same; the coordinator knows by the marks
// that the batch is not trained, and leases it again.
//
// Owned by the strand. Held by shared_ptr, because calls in flight must keep
// the memory that they point into.
class LeaseTrainer : public std::enable_shared_from_this<LeaseTrainer> {
 public:
  using Send = LeaseQueue::Send;

  // Pulls with `client`, which the exchange may use too.
  LeaseTrainer(LeaseTrainerOptions options, LeaseTrainerDependencies deps,
               std::unique_ptr<ShardedClient> client,
               std::unique_ptr<GradientExchange> exchange, Send send);

  // Requests the first lease.
  void Start();
  void AddLease(Lease lease);

  // Ends the life: drops its leases, sends nothing more, and ignores the
  // answers of calls in flight.
  void Abandon();

  // Ends the generation: drops its leases, reads and steps, and sends nothing
  // more, as Abandon. `done` runs on the strand, never inside the call, once
  // the exchange is retired (GradientExchange::Retire); Abandon drops it.
  void Retire(GradientExchange::Retired done);

  // Begins no further batch, and calls `held` once no batch is in flight and
  // the exchange stands at a border between steps (GradientExchange::Hold, to
  // which `number` goes). Batches that were read stay. Leases that come between
  // Hold and Resume are still trained, before the batches that were read: the
  // coordinator gives a held worker the batches that some shards have applied
  // and others have not (cluster/checkpoint_saver.h). The callback is dropped
  // if the life ends first.
  void Hold(uint64_t number, absl::AnyInvocable<void() &&> held);
  // Continues after Hold. `held` is not called any more.
  void Resume();

  // Limits the training steps of the life to this pace and the depth
  // (step_pipeline.h). From then on the trainer sends StepsFinished after each
  // step that the pace limits, before the LeaseDone of the step's lease.
  void SetPace(const Pace& pace);

  // Begins no further batch, and calls `idle` once no batch is in flight.
  void Drain(absl::AnyInvocable<void() &&> idle);

 private:
  using Step = StepPipeline::Step;

  // The calls for one batch. After each arrow, Pump moves every step on that
  // the pipeline allows:
  //   ReadNext → StartPull → SendPull → OnPulled → ComputeNext → Finish →
  //   OnFinished → EndStep
  // OnPulled and OnFinished retry a pull or Finish whose failure may pass. A
  // step whose Finish is aborted goes on by Keep and FinishKept.
  void Pump();
  void ReadNext();
  void StartPull(Step step);
  void SendPull(Step step);
  void OnPulled(Step step, absl::Status status);
  void ComputeNext();
  void Evaluate(Step step);
  void Train(Step step);
  // The largest norm of the step's gradient, in the unit of options_.loss.
  double ClipNorm(const TrainStep& step) const;
  void Finish(Step step);
  void OnFinished(Step step, absl::StatusOr<StepEnd> end);
  // Counts and tells what became of the step.
  void OnEnd(const PipelineStep& step, StepEnd end);
  void Keep(Step step);
  void FinishKept();
  void EndStep(Step step);
  // Reports an error as the worker's failure; no step goes on.
  void Fail(absl::Status status);
  // True if the push of the step ended only because no server has answered in
  // its long time, as while the step waits for the other workers; no error.
  bool StillWaits(const absl::Status& status, PipelineStep* step);
  // True if the call that ended with `status` is to be tried again; reports the
  // worker's failure otherwise.
  bool TriesAgain(const absl::Status& status, PipelineStep* step);
  // Drops leases and steps, and measures nothing more.
  void DropSteps();
  // Tells the clock and the board what the strand now does or waits for.
  void Enter(StepState state);
  void EnterWait();
  void MeasureFinished(const PipelineStep& step, StepEnd end);

  const LeaseTrainerOptions options_;
  const LeaseTrainerDependencies deps_;
  const std::unique_ptr<ShardedClient> client_;
  const std::unique_ptr<GradientExchange> exchange_;
  LeaseQueue leases_;

  StepPipeline pipeline_;
  absl::AnyInvocable<void() &&> held_;     // set until the pipeline is held
  uint64_t hold_ = 0;     // number of the present Hold; 0: none
  bool stopped_ = false;  // the exchange stands at a border, for this Hold
  bool retired_ = false;  // Retire has come, and not Abandon
  absl::AnyInvocable<void() &&> drained_;  // set until the pipeline is drained
  UniqueIds unique_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_LEASE_TRAINER_H_
