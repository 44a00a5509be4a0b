#ifndef SHOAL_MODELS_RECORDED_MODEL_H_
#define SHOAL_MODELS_RECORDED_MODEL_H_

#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "models/model.h"
#include "models/timeline_sample.h"

namespace shoal {

// A model that also notes how long it computes (--record_compute): the
// recorder of the profiles that ReplayedModel replays. It times whole batches
// alone, without the time that on_final takes of the thread.
//
// Results are those of `model`, bit for bit. Thread rule: that of Model, except
// that sample() is thread-safe.
class RecordedModel final : public Model {
 public:
  // `batch_size` is that of a whole batch. `clock`, that of the record,
  // outlives the model; it may be that of the thread that calls.
  RecordedModel(std::unique_ptr<Model> model, int batch_size,
                const Clock* clock);

  const ModelSpec& spec() const override { return model_->spec(); }
  const Objective& objective() const override { return model_->objective(); }
  void Predict(const ModelInput& input, absl::Span<float> logits) override {
    model_->Predict(input, logits);
  }
  void ForwardBackward(const ModelInput& input, ModelOutput* output) override;

  // A copy of the time lines so far.
  TimelineSample sample() const;

 private:
  StepTimeline Time(const ModelInput& input, ModelOutput* output);

  const std::unique_ptr<Model> model_;
  const int batch_size_;
  const Clock* const clock_;
  mutable Mutex mu_;
  TimelineSample sample_ ABSL_GUARDED_BY(mu_);
};

}  // namespace shoal

#endif  // SHOAL_MODELS_RECORDED_MODEL_H_
