#include "models/paced_model.h"

#include <functional>
#include <utility>

#include "absl/time/time.h"
#include "base/check.h"

namespace shoal {

// One call of the model, from its construction on.
class PacedModel::Call {
 public:
  explicit Call(const PacedModel* model)
      : model_(*model),
        computed_(model_.processor_->Now()),
        began_(model_.clock_->Now()) {}

  // Waits until the call has lasted as long as its pace asks for.
  void Wait() const {
    model_.clock_->SleepUntil(
        began_ + model_.pace_ * (model_.processor_->Now() - computed_));
  }
  // Does what is not of the call.
  void Exclude(const std::function<void()>& work) {
    const absl::Time computed = model_.processor_->Now();
    const absl::Time began = model_.clock_->Now();
    work();
    computed_ += model_.processor_->Now() - computed;
    began_ += model_.clock_->Now() - began;
  }

 private:
  const PacedModel& model_;
  // When the call began, on both clocks, as if nothing was excluded.
  absl::Time computed_;
  absl::Time began_;
};

PacedModel::PacedModel(std::unique_ptr<Model> model, double pace,
                       const Clock* processor, SleepingClock* clock)
    : model_(std::move(model)),
      pace_(pace),
      processor_(processor),
      clock_(clock) {
  SHOAL_DCHECK(pace > 0);
}

void PacedModel::Predict(const ModelInput& input, absl::Span<float> logits) {
  const Call call(this);
  model_->Predict(input, logits);
  call.Wait();
}

void PacedModel::ForwardBackward(const ModelInput& input, ModelOutput* output) {
  Call call(this);
  const std::function<void(DenseRange)> told = std::move(output->on_final);
  if (told) {
    output->on_final = [&](DenseRange range) {
      call.Wait();
      call.Exclude([&] { told(range); });
    };
  }
  model_->ForwardBackward(input, output);
  call.Wait();
  output->on_final = told;
}

}  // namespace shoal
