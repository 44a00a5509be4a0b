#ifndef SHOAL_WORKER_TRAIN_STEP_ROWS_H_
#define SHOAL_WORKER_TRAIN_STEP_ROWS_H_

#include <functional>
#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "core/done.h"
#include "core/mark.h"
#include "core/pushed_batch.h"
#include "core/rank_board.h"
#include "worker/train/ring_round.h"
#include "worker/train/step_memory.h"
#include "worker/train/train_step.h"

namespace shoal {

// Pushes what the replica does not hold of the gradient of the rank's own step,
// whose batch is as the ranks have agreed on it (RingExchangeOptions::
// push_rows). `step` stays in place until `done` has run, on the strand and
// never inside the call. After an error that may pass it is called again for
// the same step.
using PushRows = std::function<void(TrainStep* step, const PushedBatch& batch,
                                    Done<Verdict> done)>;

// The rows of a step, after the ranks know its batches and before it goes to
// their replicas: this rank pushes the rows of its own batch, and then the
// ranks tell each other that theirs are applied.
//
//   idle --Share--> pushing --applied--> confirming --all ranks have--> idle
//     without an own batch: idle --Share--> confirming
//   pushing --the shards refuse the push--> idle: Share again, the same rows
//
// Owned by the strand of the round. Held by shared_ptr: a push in flight keeps
// the object.
class StepRows : public std::enable_shared_from_this<StepRows> {
 public:
  // How a Share has ended.
  struct End {
    enum class How {
      kConfirmed,  // the rows of all ranks are applied; `status` is OK
      kRefused,    // the shards did not take the push
      kRankLost,   // an operation between the ranks failed
      kLeft,       // the rank has left the round meanwhile: the own push is
                   // over, and `status` is OK or says why it was not applied
    };
    How how;
    absl::Status status;
  };

  // `board` may be null.
  StepRows(PushRows push, std::shared_ptr<RingRound> round, RankBoard* board,
           Executor* strand);

  using Shared = absl::AnyInvocable<void(End) &&>;

  // Shares the rows of `own`, which is null if the rank brings no batch. If the
  // sum of the step is not sound, all its batches are rejected first: the
  // replica would only reject the sum itself. `done` runs on the strand, never
  // inside the call; not if the round is cancelled while the ranks confirm.
  // REQUIRES: idle.
  void Share(StepMemory* step, TrainStep* own, Shared done);
  // The rows are on their way: `own` is read, and `done` will run.
  bool pushing() const { return pushing_; }

 private:
  void OnPushed(const absl::Status& status, Shared done);
  void Confirm(Shared done);
  void Enter(RankBoard::Phase phase);

  const PushRows push_;
  const std::shared_ptr<RingRound> round_;
  RankBoard* const board_;
  Executor* const strand_;
  bool pushing_ = false;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_STEP_ROWS_H_
