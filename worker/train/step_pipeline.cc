#include "worker/train/step_pipeline.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace shoal {

void StepPipeline::Hold() {
  if (!alive() || state_ == State::kDraining) return;
  state_ = State::kHolding;
  ++holds_;
}

void StepPipeline::Resume() {
  if (!InHold()) return;
  state_ = State::kRunning;
}

void StepPipeline::SetPace(uint64_t until) {
  until_ = std::max(until_.value_or(0), until);
}

void StepPipeline::Drain() {
  read_.clear();
  kept_.clear();
  if (alive()) state_ = State::kDraining;
}

void StepPipeline::Fail() {
  if (!ended()) state_ = State::kFailed;
}

void StepPipeline::Abandon() {
  state_ = State::kEnded;
  read_.clear();
  // Calls in flight keep their own steps.
  begun_.clear();
  kept_.clear();
  exchanges_ = 0;
}

bool StepPipeline::BecomesHeld() {
  if (state_ != State::kHolding || InFlight()) return false;
  state_ = State::kHeld;
  return true;
}

bool StepPipeline::BecomesDrained() {
  if (state_ != State::kDraining || InFlight()) return false;
  state_ = State::kEnded;
  return true;
}

bool StepPipeline::WantsBatchOf(const OpenLease& lease) const {
  if (!alive() || state_ == State::kDraining) return false;
  // Steps that wait for the end of a hold do not delay steps of the hold.
  const auto read = std::count_if(
      read_.begin(), read_.end(),
      [&](const Step& step) { return step->lease->hold == lease.hold; });
  return static_cast<size_t>(read) <= depth_;
}

void StepPipeline::Add(std::shared_ptr<OpenLease> lease, Batch batch) {
  Step step;
  if (idle_.empty()) {
    step = std::make_shared<PipelineStep>();
  } else {
    step = std::move(idle_.back());
    idle_.pop_back();
  }
  step->stage = PipelineStep::Stage::kRead;
  step->told_wait = false;
  step->train.lease = lease->lease.number;
  step->lease = std::move(lease);
  step->train.batch = std::move(batch);
  const uint64_t hold = step->lease->hold;
  const auto at = hold == 0 ? read_.end()
                            : std::find_if(read_.begin(), read_.end(),
                                           [hold](const Step& other) {
                                             return other->lease->hold != hold;
                                           });
  read_.insert(at, std::move(step));
}

bool StepPipeline::HasRoomFor(const PipelineStep& next) const {
  // Parameters do not change during an evaluation, so pulled values do not
  // become stale.
  if (next.evaluates()) return begun_.size() <= depth_;
  // Kept steps wait for the end of the hold, and those of the hold do not.
  const size_t exchanges =
      InHold() ? static_cast<size_t>(exchanges_) : ExchangesAndKept();
  return begun_.size() < std::max<size_t>(depth_, 1) && exchanges <= depth_;
}

bool StepPipeline::HasPaceFor(const PipelineStep& next) const {
  // The sum of pace and depth may not fit into 64 bits.
  return !until_.has_value() || !Limits(next) || limited_begun_ < depth_ ||
         limited_begun_ - depth_ < *until_;
}

StepPipeline::Step StepPipeline::BeginPull() {
  if (read_.empty()) return nullptr;
  const PipelineStep& next = *read_.front();
  const bool may_begin = state_ == State::kRunning ||
                         (state_ == State::kHeld && next.lease->hold == holds_);
  if (!may_begin || !HasRoomFor(next) || !HasPaceFor(next)) return nullptr;
  if (Limits(next)) ++limited_begun_;
  Step step = std::move(read_.front());
  read_.pop_front();
  step->stage = PipelineStep::Stage::kPulling;
  begun_.push_back(step);
  return step;
}

void StepPipeline::OnPulled(PipelineStep* step) {
  SHOAL_DCHECK(step->stage == PipelineStep::Stage::kPulling);
  step->stage = PipelineStep::Stage::kPulled;
}

bool StepPipeline::BeginCompute() {
  if (!alive() || begun_.empty() ||
      begun_.front()->stage != PipelineStep::Stage::kPulled ||
      static_cast<size_t>(exchanges_) > depth_) {
    return false;
  }
  begun_.front()->stage = PipelineStep::Stage::kComputing;
  return true;
}

StepPipeline::Step StepPipeline::TakeComputing() {
  if (!alive()) return nullptr;
  SHOAL_DCHECK(!begun_.empty() &&
               begun_.front()->stage == PipelineStep::Stage::kComputing);
  Step step = std::move(begun_.front());
  begun_.pop_front();
  return step;
}

void StepPipeline::BeginExchange(PipelineStep* step) {
  SHOAL_DCHECK(step->stage == PipelineStep::Stage::kComputing);
  step->stage = PipelineStep::Stage::kExchanged;
  ++exchanges_;
}

void StepPipeline::Keep(Step step) {
  SHOAL_DCHECK(step->stage == PipelineStep::Stage::kExchanged);
  step->stage = PipelineStep::Stage::kKept;
  --exchanges_;
  kept_.push_back(std::move(step));
}

StepPipeline::Step StepPipeline::TakeKept() {
  if (state_ != State::kRunning || kept_.empty()) return nullptr;
  Step step = std::move(kept_.front());
  kept_.pop_front();
  step->stage = PipelineStep::Stage::kExchanged;
  ++exchanges_;
  return step;
}

void StepPipeline::End(Step step) {
  SHOAL_DCHECK(step->stage == PipelineStep::Stage::kComputing ||
               step->stage == PipelineStep::Stage::kExchanged);
  if (step->stage == PipelineStep::Stage::kExchanged) --exchanges_;
  if (Limits(*step)) ++limited_finished_;
  step->lease = nullptr;
  idle_.push_back(std::move(step));
}

int StepPipeline::pulls() const {
  return static_cast<int>(
      std::count_if(begun_.begin(), begun_.end(), [](const Step& step) {
        return step->stage == PipelineStep::Stage::kPulling;
      }));
}

StepState StepPipeline::WaitsFor(bool leases) const {
  if (!begun_.empty()) {
    switch (begun_.front()->stage) {
      case PipelineStep::Stage::kComputing:
        return StepState::kCompute;
      case PipelineStep::Stage::kPulled:
        return StepState::kWaitPush;
      default:
        return StepState::kWaitPull;
    }
  }
  if (state_ == State::kRunning && !read_.empty() &&
      HasRoomFor(*read_.front()) && !HasPaceFor(*read_.front())) {
    return StepState::kWaitPace;
  }
  if (ExchangesAndKept() > 0 && !read_.empty()) return StepState::kWaitPush;
  return leases ? StepState::kWaitData : StepState::kWaitLease;
}

}  // namespace shoal
