#include "bench/allreduce/turn_plan.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace shoal {

TurnPlan::TurnPlan(TurnPlanOptions options) : options_(std::move(options)) {
  BeginSize();
}

void TurnPlan::BeginSize() {
  means_.clear();
  calls_ = 0;
  spent_ = absl::ZeroDuration();
  next_ = {};
  if (size_ == options_.sizes.size()) return;
  next_.bytes = static_cast<uint64_t>(options_.sizes[size_]);
  next_.calls = 1;
  next_.check = true;
}

void TurnPlan::OnTurn(absl::Duration spent) {
  SHOAL_DCHECK(next_.calls > 0);
  const double seconds = std::max(absl::ToDoubleSeconds(spent), 1e-9) /
                         static_cast<double>(next_.calls);
  if (!next_.check) {
    means_.push_back(seconds);
    calls_ += next_.calls;
    spent_ += spent;
  }
  if (means_.size() >= static_cast<size_t>(std::max(1, options_.repeats)) ||
      (!means_.empty() && spent_ >= options_.size_time)) {
    EndSize();
    return;
  }
  const double calls = absl::ToDoubleSeconds(options_.turn_time) / seconds;
  next_.calls = static_cast<uint64_t>(
      std::clamp(calls, 1.0, static_cast<double>(kMostCalls)));
  next_.check = false;
}

void TurnPlan::EndSize() {
  std::sort(means_.begin(), means_.end());
  const size_t count = means_.size();
  AllReducePoint point;
  point.bytes = next_.bytes;
  point.seconds = (means_[(count - 1) / 2] + means_[count / 2]) / 2;
  point.least = means_.front();
  point.most = means_.back();
  point.calls = calls_;
  points_.push_back(point);
  ++size_;
  BeginSize();
}

}  // namespace shoal
