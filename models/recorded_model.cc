#include "models/recorded_model.h"

#include <functional>
#include <utility>

namespace shoal {

RecordedModel::RecordedModel(std::unique_ptr<Model> model, int batch_size,
                             const Clock* clock)
    : model_(std::move(model)), batch_size_(batch_size), clock_(clock) {}

void RecordedModel::ForwardBackward(const ModelInput& input,
                                    ModelOutput* output) {
  const bool whole = input.batch_size == batch_size_;
  bool wanted = false;
  if (whole) {
    MutexLock lock(&mu_);
    wanted = sample_.WantsNext();
    if (!wanted) sample_.Skip();
  }
  if (!wanted) {
    model_->ForwardBackward(input, output);
    return;
  }
  StepTimeline step = Time(input, output);
  MutexLock lock(&mu_);
  sample_.Add(std::move(step));
}

StepTimeline RecordedModel::Time(const ModelInput& input,
                                 ModelOutput* output) {
  StepTimeline step;
  const std::function<void(DenseRange)> told = std::move(output->on_final);
  // Moves by the time that is not the model's.
  absl::Time begin = clock_->Now();
  output->on_final = [&](DenseRange range) {
    const absl::Time now = clock_->Now();
    step.finals.push_back({range, now - begin});
    if (!told) return;
    told(range);
    begin += clock_->Now() - now;
  };
  model_->ForwardBackward(input, output);
  step.total = clock_->Now() - begin;
  output->on_final = told;
  return step;
}

TimelineSample RecordedModel::sample() const {
  MutexLock lock(&mu_);
  return sample_;
}

}  // namespace shoal
