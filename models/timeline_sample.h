#ifndef SHOAL_MODELS_TIMELINE_SAMPLE_H_
#define SHOAL_MODELS_TIMELINE_SAMPLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/compute_profile.h"

namespace shoal {

// Steps of a run that has no known end, spread evenly over the run, in bounded
// memory: every k-th step after the warm-up. When there are too many, every
// second one is dropped, and k doubles. Thread-compatible.
class TimelineSample {
 public:
  // The first steps of a run, which are slower than the others: kernels are
  // compiled, and memory is touched for the first time.
  static constexpr uint64_t kWarmUpSteps = 16;

  // False if the next step would be dropped at once, so that it need not be
  // timed.
  bool WantsNext() const {
    return next_ >= kWarmUpSteps && (next_ - kWarmUpSteps) % every_ == 0;
  }
  // The next step of the run has ended; its time line counts if WantsNext()
  // was true.
  void Add(StepTimeline step);
  void Skip() { ++next_; }

  // The steps so far, without those of the warm-up.
  uint64_t seen() const {
    return next_ > kWarmUpSteps ? next_ - kWarmUpSteps : 0;
  }
  const std::vector<StepTimeline>& steps() const { return steps_; }

 private:
  uint64_t next_ = 0;   // number of the next step in the run
  uint64_t every_ = 1;  // k
  size_t finals_ = 0;   // in all of steps_
  std::vector<StepTimeline> steps_;
};

}  // namespace shoal

#endif  // SHOAL_MODELS_TIMELINE_SAMPLE_H_
