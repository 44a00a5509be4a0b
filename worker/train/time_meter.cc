#include "worker/train/time_meter.h"

#include <algorithm>
#include <cstddef>

namespace shoal {

void TimeMeter::Enter(StepState state, absl::Time now) {
  MutexLock lock(&mu_);
  if (since_ < now) {
    const absl::Duration span = now - since_;
    const double seconds = absl::ToDoubleSeconds(span);
    time_.seconds[static_cast<size_t>(state_)] += seconds;
    if (telemetry_ != nullptr) {
      telemetry_->seconds[static_cast<size_t>(state_)]->Add(seconds);
    }
    step_from_ += LeaseWait(now);
  }
  state_ = state;
  since_ = now;
}

absl::Duration TimeMeter::LeaseWait(absl::Time now) const {
  if (state_ != StepState::kWaitLease || since_ >= now) {
    return absl::ZeroDuration();
  }
  // A batch may have ended during the wait.
  return now - std::max(since_, std::min(step_from_, now));
}

void TimeMeter::EndStep(absl::Time now) {
  MutexLock lock(&mu_);
  const absl::Time from = step_from_ + LeaseWait(now);
  step_from_ = now;
  if (from == absl::InfiniteFuture()) return;
  const absl::Duration span = std::max(now - from, absl::ZeroDuration());
  const double seconds = absl::ToDoubleSeconds(span);
  if (telemetry_ != nullptr) telemetry_->step_seconds->Observe(seconds);
  if (warmup_left_ > 0) {
    --warmup_left_;
    return;
  }
  const uint64_t micros =
      std::min(static_cast<uint64_t>(absl::ToInt64Microseconds(span)),
               StepTimes::kMostMicros);
  time_.steps.micros.Add(micros);
  const double counted = static_cast<double>(micros) * 1e-6;
  time_.steps.square_sum += counted * counted;
}

void TimeMeter::LeaveOut() {
  MutexLock lock(&mu_);
  step_from_ = absl::InfiniteFuture();
}

WorkerTime TimeMeter::Read(absl::Time now) const {
  MutexLock lock(&mu_);
  WorkerTime time = time_;
  if (since_ < now) {
    time.seconds[static_cast<size_t>(state_)] +=
        absl::ToDoubleSeconds(now - since_);
  }
  return time;
}

}  // namespace shoal
