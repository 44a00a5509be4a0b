#ifndef SHOAL_WORKER_TRAIN_GRADIENT_EXCHANGE_H_
#define SHOAL_WORKER_TRAIN_GRADIENT_EXCHANGE_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/done.h"
#include "core/lease.h"
#include "core/parameter_service.h"
#include "core/session_messages.h"
#include "worker/train/train_step.h"
#include "worker/train/worker_telemetry.h"

namespace shoal {

// What became of the batch of a step.
enum class StepEnd {
  kApplied,   // every shard has applied the batch
  kRejected,  // its gradient is not sound: marked, and changed nothing
  kDropped,   // too late for its step: no shard has the batch, which will be
              // leased again
};

// The newest step of a replica, with its gradient (step_memory.h). Only the
// exchange of a mode whose workers have replicas looks into it.
struct StepMemory;

// What an exchange begins with.
struct ExchangeStart {
  uint64_t generation = 1;  // of the ranks (core/generation_messages.h)
  // What the exchange of the generation before has left (Retire); may be null.
  std::shared_ptr<StepMemory> newest;
};

// SEAM: takes the gradients of one generation of a worker life, which is the
// whole life in a job whose workers do not wait for each other. A mode of
// training is an implementation of this interface, which job/training_mode.cc
// makes, and two numbers: the depth of the pipeline
// (LeaseTrainerOptions::pipeline_depth; its default is in
// core/training_mode.h), and the pace, which is the number of steps that this
// worker may be ahead of others. The coordinator sends the pace
// (core/step_messages.h) and StepPipeline keeps to it, so an exchange knows
// nothing of it; without one there is no limit. An exchange that waits for
// other workers keeps step with them by the time at which it ends Finish. The
// trainer does not depend on the mode. Implementations: PushExchange
// (push_exchange.h), which pushes each gradient to all shards; SyncExchange
// (sync_exchange.h), which pushes it for a step of the job; RingExchange
// (ring_exchange.h), whose ranks make one gradient of their batches;
// HybridExchange (hybrid_exchange.h), which does so with dense gradients and
// pushes rows; tests have one that records.
//
//   exchange->Start([](absl::Status error) { … },
//                   [](ProcessMessage message) { … });
//   exchange->Begin(&step);
//   ComputeStep(field_size, model, &step);
//   CheckGradient(step.loss_sum, clip_norm, &step.parameters);
//   exchange->Finish(&step, [](absl::StatusOr<StepEnd> end) { … });
//   exchange->EndLease(lease);  // after the last step of the lease
//   exchange->Cancel();         // at the end of the life, or:
//   exchange->Retire([](auto newest) { … });  // of the generation
//
// The exchange gets steps in the order in which they are computed. It gets no
// steps of evaluations. Between the Begin and the Finish of a step there is
// only the step's computation, and no other call. At most pipeline_depth + 1
// steps are between Begin and the end of Finish at a time.
//
// A step holds one batch: step->batch is the batch, step->lease the lease under
// which it is trained, and step->parameters the values that were pulled for it
// (StepParameters). From Finish on, parameters.d_rows (U × row_dim for each
// table, in the order of split.ids) and parameters.d_dense (in ShardMap's flat
// order) are the clipped gradient of the mean or of the sum of the losses of
// the batch's examples (LeaseTrainerOptions::loss). If parameters.rejected is
// true, they are not valid. The step belongs to the caller, which keeps it in
// place and does not touch it from Begin until the last Finish of the step is
// done. Until then the exchange may read and overwrite the step's gradient.
//
// Owned by the strand of the trainer: it is called there, and `done` runs
// there, exactly once and never inside Finish. The owner keeps the exchange
// until every `done` has run or was dropped with the strand.
class GradientExchange {
 public:
  using Failed = absl::AnyInvocable<void(absl::Status)>;
  using Tell = absl::AnyInvocable<void(ProcessMessage)>;
  using Retired =
      absl::AnyInvocable<void(absl::StatusOr<std::shared_ptr<StepMemory>>) &&>;
  using Held = absl::AnyInvocable<void() &&>;

  virtual ~GradientExchange() = default;

  // The first call, on any thread. `failed` takes an error that ends the worker
  // and that a Finish cannot tell: the exchange worked by itself, or a Finish
  // with this code would be done again. It runs on the strand, at most once,
  // never inside a call, and not after Cancel or Retire. `tell` sends a message
  // about the ranks (RingBroken, ReplicaLevel) to the coordinator, on the
  // strand.
  virtual void Start(Failed failed, Tell tell) {}

  // Tells the exchange that the step, which is pulled and has no gradient yet,
  // is about to be computed.
  virtual void Begin(TrainStep* step) = 0;

  // Takes the computed step. `done` learns what became of the batch once the
  // batch will change no parameter any more. UNAVAILABLE, DEADLINE_EXCEEDED and
  // RESOURCE_EXHAUSTED may pass: after these errors the caller may call Finish
  // again for the same step, without Begin, any number of times; the batch is
  // still applied only once. ABORTED: the job holds before this step, and
  // nothing of the step is in flight; the caller keeps the step and calls
  // Finish again after the hold. Any other error ends the worker.
  virtual void Finish(TrainStep* step, Done<StepEnd> done) = 0;

  // Tells the exchange that no further step of this lease begins. The lease's
  // last step was handed to Finish, which may not be done yet, or the lease had
  // no step. Called once for each training lease that was read to its end or
  // until an error. The coordinator is told that the lease is done only after
  // this call, when every Finish of the lease's steps is done.
  virtual void EndLease(const Lease& lease) = 0;

  // Asks for a border between steps: `held` runs once the exchange does nothing
  // by itself, and will do nothing until Resume. It runs on the strand, perhaps
  // inside this call; it is dropped at Resume and at the next Hold. `number` is
  // that of the coordinator's Hold, which all workers get, and grows
  // (core/save_messages.h). If workers wait for each other, all of them stop at
  // the same border. The Finish of a step beyond the border then ends with
  // ABORTED: nothing of the step was kept, and it is to be finished again, soon
  // or after Resume, as after an error that may pass.
  virtual void Hold(uint64_t number, Held held) { std::move(held)(); }
  // Ends the Hold of this number, and all before it.
  virtual void Resume(uint64_t number) {}

  // Ends the generation: no call but Cancel follows. The exchange begins
  // nothing more and leaves the other workers. A push that is on its way to a
  // shard is waited for: a replica of this worker gets its step to the end, and
  // is asked again after an error that may pass; a push to other shards is not
  // sent again. Then each Finish that has not ended ends, with a result that is
  // to be ignored, and after them `done` runs, on the strand, never inside the
  // call; it is dropped at Cancel. It gets what the next exchange of this life
  // begins with (ExchangeStart::newest), or an error that ends the job.
  // REQUIRES: no step is between Begin and Finish.
  virtual void Retire(Retired done) = 0;

  // Ends the life: no call follows. Each `done` that has not run still runs,
  // soon, and its result is ignored.
  virtual void Cancel() = 0;

  // The state of a worker that can only wait for the end of a Finish.
  virtual StepState waits_in() const { return StepState::kWaitPush; }
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_GRADIENT_EXCHANGE_H_
