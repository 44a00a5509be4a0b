#ifndef SHOAL_WORKER_TRAIN_STEP_PIPELINE_H_
#define SHOAL_WORKER_TRAIN_STEP_PIPELINE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "worker/data/batch.h"
#include "worker/train/lease_queue.h"
#include "worker/train/train_step.h"
#include "worker/train/worker_telemetry.h"

namespace shoal {

// A batch on its way through a worker, and the memory that it needs there.
struct PipelineStep {
  enum class Stage {
    kRead,       // waits for its pull
    kPulling,    // its pull is in flight
    kPulled,     // waits for its turn to be computed
    kComputing,  // its computation is posted, or runs
    kExchanged,  // its gradient is in the hands of the GradientExchange
  };

  Stage stage = Stage::kRead;
  std::shared_ptr<OpenLease> lease;
  TrainStep train;
  absl::Time sent;  // its pull, then its gradient, the first time
  // Since when every answer was RESOURCE_EXHAUSTED; InfiniteFuture: not so.
  absl::Time full_since = absl::InfiniteFuture();

  bool evaluates() const { return lease->evaluates(); }
};

// Says, for the steps of one worker life, which may go on. Pure logic: pulls,
// computes and sends nothing itself. A step's way:
//
//   Add → read → BeginPull → pulling → OnPulled → pulled → BeginCompute →
//   computing → TakeComputing, then
//     of an evaluation: End
//     of training:      BeginExchange → exchanged → End
//
// Steps are pulled and computed in the order in which they were added, those of
// a hold first (OpenLease::hold); they may end in any order. A step is in
// flight from BeginPull to End.
//
//   running --Hold--> holding --no step in flight--> held
//      ^-------Resume----'-----------Resume------------'
//   any of the three --Drain--> draining --no step in flight--> ended
//   any of the four --Fail--> failed: steps in flight end, and no other goes on
//   each state --Abandon--> ended: the pipeline lets go of all steps
//
// Held, it begins the steps of leases that came in this hold, and no others.
//
// Owned by one strand. Steps are held by shared_ptr, since calls in flight keep
// the memory that they point into.
class StepPipeline {
 public:
  using Step = std::shared_ptr<PipelineStep>;

  enum class State { kRunning, kHolding, kHeld, kDraining, kFailed, kEnded };

  // `depth`: LeaseTrainerOptions::pipeline_depth.
  explicit StepPipeline(int depth) : depth_(static_cast<size_t>(depth)) {}

  bool failed() const { return state_ == State::kFailed; }
  bool ended() const { return state_ == State::kEnded; }
  // Steps may go on.
  bool alive() const { return !failed() && !ended(); }

  // Begins no further pull, but see hold(). Does nothing in a pipeline that is
  // to end.
  void Hold();
  // The number of this hold: leases that come now may be trained in it. 0:
  // neither holding nor held.
  uint64_t hold() const { return InHold() ? holds_ : 0; }
  // Goes on after Hold.
  void Resume();
  // Lets go of the steps that are not in flight, and begins no other.
  void Drain();
  void Fail();
  void Abandon();
  // Whether the last step in flight has ended since Hold: true once a Hold.
  bool BecomesHeld();
  // The same of Drain; the pipeline has then ended.
  bool BecomesDrained();

  // Whether so few steps wait for their pull that another batch of this lease
  // should be read.
  bool WantsBatchOf(const OpenLease& lease) const;
  void Add(std::shared_ptr<OpenLease> lease, Batch batch);

  // The next step to be pulled, or nullptr where none may be pulled now.
  Step BeginPull();
  // REQUIRES: pulling.
  void OnPulled(PipelineStep* step);
  // Whether the oldest step in flight is to be computed now: the caller calls
  // TakeComputing soon. False where it was told so before.
  bool BeginCompute();
  // The step of BeginCompute; nullptr where no step goes on any more.
  Step TakeComputing();
  // REQUIRES: it comes from TakeComputing.
  void BeginExchange(PipelineStep* step);
  // The step is through; its memory is used again. REQUIRES: it comes from
  // TakeComputing, and is not used after this.
  void End(Step step);

  // In flight.
  int pulls() const;
  int exchanges() const { return exchanges_; }
  // What the worker waits for if no step goes on now; `leases`: there is
  // something to be read.
  StepState WaitsFor(bool leases) const;

 private:
  bool InHold() const {
    return state_ == State::kHolding || state_ == State::kHeld;
  }
  bool InFlight() const { return !begun_.empty() || exchanges_ > 0; }
  // Does the depth allow the pull of `next`?
  bool HasRoomFor(const PipelineStep& next) const;

  const size_t depth_;
  State state_ = State::kRunning;
  uint64_t holds_ = 0;  // so far
  std::deque<Step> read_;
  std::deque<Step> begun_;  // from BeginPull to TakeComputing
  int exchanges_ = 0;       // steps from BeginExchange to End
  std::vector<Step> idle_;  // memory for reuse
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_STEP_PIPELINE_H_
