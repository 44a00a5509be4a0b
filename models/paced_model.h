#ifndef SHOAL_MODELS_PACED_MODEL_H_
#define SHOAL_MODELS_PACED_MODEL_H_

#include <memory>

#include "absl/types/span.h"
#include "base/clock.h"
#include "base/sleeping_clock.h"
#include "models/model.h"

namespace shoal {

// A model that computes no faster than a slower core would: a call lasts at
// least `pace` times its processor time (--compute_scale). For the rest of that
// time it sleeps. So a thread that gets more of a processor than the core that
// it plays would give gains nothing by it.
//
// ForwardBackward calls on_final at such times too. The time that on_final
// itself takes comes on top.
//
// Results are those of `model`, bit for bit. Thread rule: that of Model.
class PacedModel final : public Model {
 public:
  // `processor` has the processor time of the thread that calls, and `clock`
  // the time to wait for. Both outlive the model. REQUIRES: pace > 0.
  PacedModel(std::unique_ptr<Model> model, double pace, const Clock* processor,
             SleepingClock* clock);

  const ModelSpec& spec() const override { return model_->spec(); }
  const Objective& objective() const override { return model_->objective(); }
  void Predict(const ModelInput& input, absl::Span<float> logits) override;
  void ForwardBackward(const ModelInput& input, ModelOutput* output) override;

 private:
  class Call;

  const std::unique_ptr<Model> model_;
  const double pace_;
  const Clock* const processor_;
  SleepingClock* const clock_;
};

}  // namespace shoal

#endif  // SHOAL_MODELS_PACED_MODEL_H_
