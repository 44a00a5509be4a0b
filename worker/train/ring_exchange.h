#ifndef SHOAL_WORKER_TRAIN_RING_EXCHANGE_H_
#define SHOAL_WORKER_TRAIN_RING_EXCHANGE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/executor.h"
#include "core/collective.h"
#include "core/done.h"
#include "core/rank_board.h"
#include "worker/client/sharded_client.h"
#include "worker/train/gradient_exchange.h"
#include "worker/train/ring_round.h"
#include "worker/train/step_rows.h"
#include "worker/train/train_step.h"

namespace shoal {

struct RingExchangeOptions {
  RingRoundOptions round;
  // The generation of the ranks, and the newest step of this rank's replica.
  ExchangeStart start;
  // The batches that have a mark in this rank's replica, of the whole job. May
  // be null if there is only one generation.
  std::function<uint64_t()> marked;
  // True: after the loss of a rank the coordinator begins another generation.
  // False: the loss ends the worker.
  bool renews = false;
  // Where the rank stands is told here; may be null. Outlives the exchange's
  // calls.
  RankBoard* board = nullptr;
  // True: the dense gradient is summed bucket by bucket while the backward pass
  // goes on. Must be false if gradients are clipped (--clip_norm), since the
  // factor is known only when the whole gradient is.
  bool overlap = true;
  // Pause before a push of a step without an own batch, which failed for a
  // passing reason, is sent again. A step with an own batch is sent again by
  // the next Finish.
  absl::Duration retry_pause = absl::Milliseconds(200);
  // Gets a line for the log, without a newline, when such a push is sent again
  // for the first time. Called on the strand; may be null.
  std::function<void(const std::string&)> warn;
  // Pushes what the replica does not hold of the gradient. Null: the replica
  // holds all variables.
  PushRows push_rows;
};

// The exchange of `--mode=ring`: the ranks of a job make one gradient of their
// batches, and each pushes it to its own replica of all variables, as one push
// with all batches of the step. So every replica applies the same steps and
// marks every batch.
//
// The ranks do rounds (ring_round.h), one after another, and all ranks do the
// same ones. What a rank does in the next round (RankTurns decides):
//
//   lane    a step to finish               nothing to finish
//   open    brings its batch               waits
//   ended   brings its batch, a last one   brings nothing, in every round until
//                                          all ranks have ended their lanes
//
// A lane ends with EndLease of a lease that is the last of its lane; the next
// lane is open when all ranks have ended this one. So each rank must get a
// lease with last_of_lane in every epoch, if only one without batches. A step
// of the next lane that comes too early waits, and so does that lane's end.
//
// Hold is agreed in a round. A rank that was told to hold tells the number of
// the Hold in its part of the next round, and all ranks stop after that round.
// A rank that waits does such a round at once. It then has neither a batch nor
// an ended lane, so the round is no step: batches of other ranks stay where
// they are (ABORTED), and the steps of the job do not depend on the time of the
// Hold. If each rank stopped when its own Hold comes, one rank would begin a
// step that another has stopped before, and wait for it for ever. A stopped
// rank does no round until its Resume comes. A rank whose Resume comes earlier
// waits for the others in the next round.
//
// Finish ends with ABORTED while the rank is stopped: the step changed nothing,
// and is to be finished again after Resume. Errors of Finish are those of the
// push to the replica. The next Finish pushes the same gradient again, without
// a round.
//
// What goes wrong between the ranks. A rank that is lost, UNAVAILABLE, breaks
// the ring: this rank tells RingBroken once, and then waits for Retire; a
// Finish does not end before. Without RingExchangeOptions::renews it ends the
// worker (Failed), and so do all other errors: FAILED_PRECONDITION names
// another version or a batch that two ranks brought, ABORTED (told as
// FAILED_PRECONDITION) ranks that did not find each other.
//
// A generation after the first one begins by making the replicas level
// (ring_level.h). No round begins before; the rank tells ReplicaLevel then.
// Retire keeps the newest step of the replica (RingRound says for how long a
// step's memory is whole), so that the next generation can do the same. If this
// generation ends while replicas are made level, both the step that the rank
// had and the one that its replica has got meanwhile are right for the next.
//
// Pulls of rows of the replica must not create rows (PullRequest::read_only):
// if the batch is not trained in the end, its new rows would exist in one
// replica only.
//
// With push_rows (hybrid_exchange.h) the order within a step is: all ranks know
// the batches of the step; each rank pushes its rows; the ranks confirm this to
// each other (step_rows.h); each replica gets the step. So a replica has a
// batch only if its rows are everywhere, and no rank pulls for the next step
// before. If the sum of the dense gradients is not sound, all batches of the
// step are rejected before their rows are pushed. A step whose rows were pushed
// and that ends before its replicas have it is dropped: servers refuse its rows
// when they come again.
//
// REQUIRES: pipeline depth 0, since a pull must see the step before; the
// gradient is a sum (ModelInput::loss_divisor is 1); ShardedClient has a
// replicated shard, the rank's replica, and no other shard without push_rows.
class RingExchange : public GradientExchange {
 public:
  // `shards` must outlive the exchange's use, which ends with Cancel, or when
  // the `done` of Retire has run. The
  // executor of `collective` is `strand`.
  RingExchange(RingExchangeOptions options, ShardedClient* shards,
               std::unique_ptr<Collective> collective, Executor* strand);
  ~RingExchange() override;

  void Start(Failed failed, Tell tell) override;
  void Begin(TrainStep* step) override;
  void Finish(TrainStep* step, Done<StepEnd> done) override;
  void EndLease(const Lease& lease) override;
  void Hold(uint64_t number, Held held) override;
  void Resume(uint64_t number) override;
  void Retire(Retired done) override;
  void Cancel() override;
  StepState waits_in() const override { return StepState::kWaitRing; }

 private:
  class Rank;
  const std::shared_ptr<Rank> rank_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_RING_EXCHANGE_H_
