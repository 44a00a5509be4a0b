#ifndef SHOAL_TESTS_MODELS_TIMED_MODEL_H_
#define SHOAL_TESTS_MODELS_TIMED_MODEL_H_

#include <algorithm>
#include <utility>
#include <vector>

#include "models/binary_objective.h"
#include "models/compute_profile.h"
#include "models/model.h"
#include "tests/harness/fake_sleeping_clock.h"
#include "tests/models/sample_batch.h"

namespace shoal {

inline ModelSpec TimedSpec() {
  ModelSpec spec;
  spec.model = "timed";
  spec.tables = {{"t", 100, {{"w", 3, {}, {}}}}};
  spec.dense = {{"a", {4}, {}, {}}, {"b", {6}, {}, {}}};
  return spec;
}

// A model whose step takes the times that the test says, on a fake clock.
class TimedModel final : public Model {
 public:
  explicit TimedModel(FakeSleepingClock* clock) : clock_(clock) {}

  const ModelSpec& spec() const override { return spec_; }
  const Objective& objective() const override { return kBinaryObjective; }
  void Predict(const ModelInput&, absl::Span<float> logits) override {
    ++predicted;
    std::fill(logits.begin(), logits.end(), 0.5f);
  }
  void ForwardBackward(const ModelInput&, ModelOutput* output) override {
    ++trained;
    absl::Duration at;
    for (const StepTimeline::Final& final : step.finals) {
      clock_->Advance(final.at - at);
      at = final.at;
      if (output->on_final) output->on_final(final.range);
    }
    clock_->Advance(step.total - at);
    std::fill(output->logits.begin(), output->logits.end(), 0.25f);
    std::fill(output->d_dense.begin(), output->d_dense.end(), 2.0f);
    std::fill(output->d_rows[0].begin(), output->d_rows[0].end(), 3.0f);
    output->loss_sum = 7;
  }

  StepTimeline step = {{{{4, 10}, absl::Milliseconds(3)},
                        {{0, 4}, absl::Milliseconds(5)}},
                       absl::Milliseconds(6)};
  int predicted = 0;
  int trained = 0;

 private:
  FakeSleepingClock* const clock_;
  const ModelSpec spec_ = TimedSpec();
};

}  // namespace shoal

#endif  // SHOAL_TESTS_MODELS_TIMED_MODEL_H_
