#ifndef SHOAL_WORKER_TRAIN_RANK_TURNS_H_
#define SHOAL_WORKER_TRAIN_RANK_TURNS_H_

#include <cstdint>

namespace shoal {

// Decides what one rank of `--mode=ring` does next, and what it tells the other
// ranks of its lane and its hold (RankPart). The rules for all ranks together
// are those of ring_exchange.h. Pure: events come in, and the questions have no
// effect.
//
//   RankTurns turns;
//   turns.BeginStep();   // the rank is about to compute a step
//   turns.HasStep();     // the step is computed
//   if (turns.next() == RankTurns::Turn::kBatch) {
//     // do a round with the step, and tell turns.lane_ended(), turns.hold()
//     turns.OnRound(outcome.hold, outcome.lanes_ended);
//     turns.EndStep();   // once the replica has the step
//   }
//
// Lanes are counted, since a rank may be one lane ahead of the slowest. A lane
// that the rank has ended is open until all ranks have ended it; a step of the
// lane after it waits until then, and so does the end of that lane.
//
// Numbers of Holds grow. The rank is stopped from the round that agrees on a
// Hold to the Resume of the same Hold or of a later one. A round may agree on a
// Hold that this rank does not know yet, and the Resume may come before that
// round.
//
// Thread-compatible.
class RankTurns {
 public:
  enum class Turn {
    kWait,     // nothing, until the next event
    kBatch,    // a round with the step
    kNoBatch,  // a round without a batch: others may need this rank's lane or
               // hold
    kStop,     // no round until Resume; a step is to be kept (KeepStep)
  };

  // What the rank does next, if no round is under way. That all other ranks do
  // the same rounds follows from the rules of ring_exchange.h.
  Turn next() const;
  // True if a step that is being computed now will be part of the next round,
  // so that its gradient may be summed meanwhile. REQUIRES: no round is under
  // way.
  bool MayBegin() const { return !stopped() && !early(); }
  // True if the rank stands at the border of the newest Hold that it knows.
  bool held() const { return stopped() && agreed_ >= hold_; }

  // The rank tells in a round that it brings no batch in later rounds of this
  // epoch. A lane whose last step is kept has not ended.
  bool lane_ended() const {
    return lanes_ended_ > lanes_closed_ && step_ != Step::kKept;
  }
  // The number of the Hold that the rank tells in a round; 0: none.
  uint64_t hold() const { return hold_ > released_ ? hold_ : 0; }

  // The rank is about to compute a step, the first one of a lane if EndLane was
  // called since the step before.
  void BeginStep() { lane_of_step_ = lanes_ended_; }
  // The step is there to be finished, for the first time or after KeepStep.
  void HasStep() { step_ = Step::kHere; }
  // The step goes back to the caller as it was, because the rank is stopped;
  // HasStep follows.
  void KeepStep() { step_ = Step::kKept; }
  // The step is no longer there.
  void EndStep() { step_ = Step::kNone; }
  // No further step of the lane begins.
  void EndLane() { ++lanes_ended_; }
  void Hold(uint64_t number);
  void Resume(uint64_t number);
  // A round is over in which `hold` is the highest number that a rank has told,
  // and `lanes_ended` says whether all ranks have ended their lanes.
  void OnRound(uint64_t hold, bool lanes_ended);

 private:
  enum class Step { kNone, kHere, kKept };

  bool stopped() const { return agreed_ > released_; }
  // True if the step is of the lane after the open one.
  bool early() const { return lane_of_step_ > lanes_closed_; }

  Step step_ = Step::kNone;
  // Lanes that this rank has ended: now, when its step began; and those that
  // all ranks have ended.
  uint64_t lanes_ended_ = 0;
  uint64_t lane_of_step_ = 0;
  uint64_t lanes_closed_ = 0;
  // Numbers of Holds: of the newest that this rank got, of the newest that a
  // round agreed on, and of the newest that a Resume has ended.
  uint64_t hold_ = 0;
  uint64_t agreed_ = 0;
  uint64_t released_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_RANK_TURNS_H_
