#ifndef SHOAL_WORKER_TRAIN_STEP_PIPELINE_H_
#define SHOAL_WORKER_TRAIN_STEP_PIPELINE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "worker/data/batch.h"
#include "worker/train/lease_queue.h"
#include "worker/train/train_step.h"
#include "worker/train/worker_telemetry.h"

namespace shoal {

// A batch that is being trained or scored, and its memory.
struct PipelineStep {
  enum class Stage {
    kRead,       // waits for its pull
    kPulling,    // its pull is in flight
    kPulled,     // waits for its turn to be computed
    kComputing,  // its computation is posted, or runs
    kExchanged,  // its gradient is with the GradientExchange
    kKept,       // the job holds before the step; its gradient waits
  };

  Stage stage = Stage::kRead;
  std::shared_ptr<OpenLease> lease;
  TrainStep train;
  absl::Time sent;  // first sending of its pull, then of its gradient
  // The time since which every answer was RESOURCE_EXHAUSTED; InfiniteFuture if
  // the last answer was not.
  absl::Time full_since = absl::InfiniteFuture();
  bool told_wait = false;  // the log says that the step waits for other workers

  bool evaluates() const { return lease->evaluates(); }
};

// Decides which steps of one worker life may go on. Pure logic: it pulls,
// computes and sends nothing itself. The stages of a step:
//
//   Add → read → BeginPull → pulling → OnPulled → pulled → BeginCompute →
//   computing → TakeComputing, then
//     of an evaluation: End
//     of training:      BeginExchange → exchanged → End
//                         or Keep → kept → TakeKept → exchanged
//
// Steps are pulled and computed in the order in which they were added, except
// that steps of a hold come first (OpenLease::hold). They may end in any order.
// A step is in flight from BeginPull to End, but not while it is kept. No other
// step is pulled before the kept ones are taken, except for steps of a hold.
//
//   running --Hold--> holding --no step in flight--> held
//      ^-------Resume----'-----------Resume------------'
//   any of the three --Drain--> draining --no step in flight--> ended
//   any of the four --Fail--> failed: steps in flight end, and no other goes on
//   each state --Abandon--> ended: the pipeline drops all steps
//
// In the state held, the pipeline begins only the steps of leases that came
// during this hold.
//
// A pace (core/step_messages.h) limits the training steps of the life: with n
// of them begun so far, from 0, and a pace of `until`, the pull of another one
// begins only if
//
//   n < until + depth
//
// So a step that is pulled never waits for the pace, and neither does a hold.
// The pace limits and counts neither the steps of evaluations nor those of
// leases that came during a hold: all shards need these steps before the hold
// can end, and the workers that this worker waits for may be held.
//
// Owned by one strand. Steps are held by shared_ptr, because calls in flight
// must keep the memory that they point into.
class StepPipeline {
 public:
  using Step = std::shared_ptr<PipelineStep>;

  enum class State { kRunning, kHolding, kHeld, kDraining, kFailed, kEnded };

  // `depth` is LeaseTrainerOptions::pipeline_depth.
  explicit StepPipeline(int depth) : depth_(static_cast<size_t>(depth)) {}

  bool failed() const { return state_ == State::kFailed; }
  bool ended() const { return state_ == State::kEnded; }
  // True if steps may go on.
  bool alive() const { return !failed() && !ended(); }

  // Stops further pulls, except for the leases of hold(). Does nothing in a
  // pipeline that is draining, failed or ended.
  void Hold();
  // The number of the present hold; leases that come now may be trained during
  // it. 0 if the pipeline is neither holding nor held.
  uint64_t hold() const { return InHold() ? holds_ : 0; }
  // Continues after Hold.
  void Resume();
  // Sets the pace, or a later one. An earlier one changes nothing.
  void SetPace(uint64_t until);
  // True once the pipeline has a pace.
  bool paced() const { return until_.has_value(); }
  // True if a pace limits this step. REQUIRES: the step has its lease.
  static bool Limits(const PipelineStep& step) {
    return !step.evaluates() && step.lease->hold == 0;
  }
  // The steps that a pace limits and that have ended (StepsFinished::steps).
  uint64_t finished() const { return limited_finished_; }
  // Drops the steps that are not in flight, and begins no other.
  void Drain();
  void Fail();
  void Abandon();
  // True once after each Hold, when no step is in flight.
  bool BecomesHeld();
  // True once after Drain, when no step is in flight; the pipeline has then
  // ended.
  bool BecomesDrained();

  // True if another batch of this lease should be read, because few steps wait
  // for their pull.
  bool WantsBatchOf(const OpenLease& lease) const;
  void Add(std::shared_ptr<OpenLease> lease, Batch batch);

  // The next step to pull, or nullptr if no step may be pulled now.
  Step BeginPull();
  // REQUIRES: pulling.
  void OnPulled(PipelineStep* step);
  // True if the oldest step in flight is to be computed now; the caller must
  // then call TakeComputing soon. The result is true only once for each step.
  bool BeginCompute();
  // The step of BeginCompute; nullptr if no step goes on any more.
  Step TakeComputing();
  // REQUIRES: `step` comes from TakeComputing.
  void BeginExchange(PipelineStep* step);
  // Keeps the step, whose exchange ended because the job holds. REQUIRES:
  // exchanged.
  void Keep(Step step);
  // The oldest kept step, which is exchanged again. nullptr if no step is kept,
  // and while the pipeline does not run.
  Step TakeKept();
  // Ends the step; its memory is used again. REQUIRES: `step` comes from
  // TakeComputing, and the caller does not use it after this.
  void End(Step step);

  // The number of pulls in flight, and of steps that are exchanged.
  int pulls() const;
  int exchanges() const { return exchanges_; }
  // The state that the worker waits in if no step goes on now. `leases` is true
  // if there is a lease to read.
  StepState WaitsFor(bool leases) const;

 private:
  bool InHold() const {
    return state_ == State::kHolding || state_ == State::kHeld;
  }
  bool InFlight() const { return !begun_.empty() || exchanges_ > 0; }
  // The steps that take the places of exchanges.
  size_t ExchangesAndKept() const {
    return static_cast<size_t>(exchanges_) + kept_.size();
  }
  // True if the depth allows the pull of `next`.
  bool HasRoomFor(const PipelineStep& next) const;
  // True if the pace allows it.
  bool HasPaceFor(const PipelineStep& next) const;

  const size_t depth_;
  State state_ = State::kRunning;
  uint64_t holds_ = 0;             // number of holds so far
  std::optional<uint64_t> until_;  // the newest pace
  // Steps that a pace limits, from BeginPull on, and after End.
  uint64_t limited_begun_ = 0;
  uint64_t limited_finished_ = 0;
  std::deque<Step> read_;
  std::deque<Step> begun_;  // from BeginPull to TakeComputing
  int exchanges_ = 0;       // steps that are exchanged
  std::deque<Step> kept_;   // by Keep
  std::vector<Step> idle_;  // memory for reuse
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_STEP_PIPELINE_H_
