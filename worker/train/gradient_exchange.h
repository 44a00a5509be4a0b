#ifndef SHOAL_WORKER_TRAIN_GRADIENT_EXCHANGE_H_
#define SHOAL_WORKER_TRAIN_GRADIENT_EXCHANGE_H_

#include "core/done.h"
#include "core/lease.h"
#include "core/mark.h"
#include "core/parameter_service.h"
#include "worker/train/train_step.h"

namespace shoal {

// SEAM: what becomes of the gradients of one worker life. A mode of training is
// an implementation of this and two numbers: the depth of the pipeline, and how
// far this worker may be ahead of others. The trainer knows no mode.
// Implementation: PushExchange (push_exchange.h), which pushes each gradient to
// all shards; tests have one that records.
//
//   exchange->Begin(&step);
//   ComputeStep(field_size, model, &step);
//   CheckGradient(step.loss_sum, clip_norm, &step.parameters);
//   exchange->Finish(&step, [](absl::StatusOr<Verdict> verdict) { … });
//   exchange->EndLease(lease);  // after the last step of the lease
//   exchange->Cancel();         // at the end of the life
//
// Steps come in the order in which they are computed, and steps of evaluations
// never. Only the computation of a step lies between its Begin and its Finish:
// no other call does. At most pipeline_depth + 1 steps are between Begin and
// the end of Finish at a time.
//
// A step holds one batch: step->batch says which, step->lease under which lease
// it is trained, step->parameters what was pulled for it (StepParameters). From
// Finish on, parameters.d_rows (of each table U × row_dim, in the order of
// split.ids) and parameters.d_dense (in ShardMap's flat order) are the gradient
// of the mean loss of the batch's examples, clipped; where parameters.rejected
// is true they mean nothing. The step belongs to the caller and stays in place,
// untouched by the caller, from Begin until the last Finish of the step is
// done; until then its gradient is the exchange's to read and to overwrite.
//
// Owned by the strand of the trainer: called there, and `done` runs there,
// exactly once and never inside Finish. The owner keeps the exchange until
// every `done` has run or is dropped with the strand.
class GradientExchange {
 public:
  virtual ~GradientExchange() = default;

  // The step is about to be computed: it is pulled, and has no gradient yet.
  virtual void Begin(TrainStep* step) = 0;

  // The step is computed. `done` gets the verdict on the batch once no
  // parameter will change by it any more: kApplied, or kRejected where nothing
  // was changed. After UNAVAILABLE, DEADLINE_EXCEEDED or RESOURCE_EXHAUSTED,
  // which may pass, the caller may call Finish again for the same step, without
  // Begin, as often as it takes; the batch is then applied once all the same.
  // Any other error ends the worker.
  virtual void Finish(TrainStep* step, Done<Verdict> done) = 0;

  // No further step of this lease begins: its last one was handed to Finish,
  // which may not be done yet, or the lease had none. Called once for each
  // training lease that was read to its end, or as far as it could be read. The
  // coordinator hears that the lease is done only after this, when every Finish
  // of its steps is done.
  virtual void EndLease(const Lease& lease) = 0;

  // The life is over: no call follows. Each `done` that has not run still runs,
  // soon, and its result counts for nothing.
  virtual void Cancel() = 0;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_GRADIENT_EXCHANGE_H_
