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
#include "worker/client/sharded_client.h"
#include "worker/train/gradient_exchange.h"
#include "worker/train/ring_round.h"

namespace shoal {

struct RingExchangeOptions {
  RingRoundOptions round;
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
// and is to be finished again after Resume. What goes wrong between the ranks
// ends the worker (Failed): UNAVAILABLE names a lost rank, FAILED_PRECONDITION
// another version or a batch that two ranks brought. Other errors of Finish are
// those of the push to the replica. The next Finish pushes the same gradient
// again, without a round.
//
// Pulls of a rank must not create rows (PullRequest::read_only): if the batch
// is not trained in the end, its new rows would exist in one replica only.
//
// REQUIRES: pipeline depth 0, since a pull must see the step before; the
// gradient is a sum (ModelInput::loss_divisor is 1); ShardedClient has one
// shard, the rank's replica.
class RingExchange final : public GradientExchange {
 public:
  // `replica` must outlive the exchange's use, which ends with Cancel. The
  // executor of `collective` is `strand`.
  RingExchange(RingExchangeOptions options, ShardedClient* replica,
               std::unique_ptr<Collective> collective, Executor* strand);
  ~RingExchange() override;

  void Start(Failed failed) override;
  void Begin(TrainStep* step) override;
  void Finish(TrainStep* step, Done<StepEnd> done) override;
  void EndLease(const Lease& lease) override;
  void Hold(uint64_t number, Held held) override;
  void Resume(uint64_t number) override;
  void Cancel() override;
  StepState waits_in() const override { return StepState::kWaitRing; }

 private:
  class Rank;
  const std::shared_ptr<Rank> rank_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_RING_EXCHANGE_H_
