#include "models/timeline_sample.h"

#include <utility>

#include "base/check.h"

namespace shoal {

void TimelineSample::Add(StepTimeline step) {
  SHOAL_DCHECK(WantsNext());
  ++next_;
  finals_ += step.finals.size();
  steps_.push_back(std::move(step));
  while (steps_.size() > ComputeProfile::kMostSteps ||
         (finals_ > ComputeProfile::kMostFinals && steps_.size() > 1)) {
    every_ *= 2;
    finals_ = 0;
    size_t kept = 0;
    for (size_t i = 0; i < steps_.size(); i += 2) {
      if (i != kept) steps_[kept] = std::move(steps_[i]);
      finals_ += steps_[kept++].finals.size();
    }
    steps_.resize(kept);
  }
}

}  // namespace shoal
