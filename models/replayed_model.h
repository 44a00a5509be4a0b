#ifndef SHOAL_MODELS_REPLAYED_MODEL_H_
#define SHOAL_MODELS_REPLAYED_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/mutex.h"
#include "base/sleeping_clock.h"
#include "models/compute_profile.h"
#include "models/model.h"
#include "models/unmeasured_objective.h"

namespace shoal {

// How exactly the steps of a replay took the times of the record.
struct ReplayError {
  uint64_t steps = 0;
  absl::Duration wanted;  // the sum of the recorded times, as they were scaled
  absl::Duration late;    // the sum of the times by which steps took longer
  absl::Duration latest;  // the largest of them
};

// A model that does not compute, but waits on its clock as long as a real one
// did: by sleeping (--compute=replay), so that one core can play many workers,
// or at work (--compute=busy, with a ProcessorClock).
//
//   auto model = std::make_unique<ReplayedModel>(std::move(real), profile,
//                                                /*worker=*/0, /*scale=*/1,
//                                                &clock);
//
// The n-th call of ForwardBackward, counted from 0, takes the time of step
// n + kStepsApart · worker of the profile, times `scale`; after the last step
// of the profile comes its first one. So the workers of one step of a
// synchronous job take the times of steps that were near each other in the
// record. What slowed the recorded machine down for a while, and made all of
// its workers slow, does so in the replay, while the differences from one step
// to another are those between the workers. (If each worker drew its times from
// the whole record, the slowest worker of a step would be slower than it was.)
// A batch of fewer examples takes its share of the time. ForwardBackward calls
// on_final with the ranges, in the order and at the times of that step. The
// time that on_final itself takes comes on top, as it does where a model
// computes. Predict, which is not recorded, takes a third of a step, which the
// batch's identity chooses: the forward pass has a third of the products.
//
// The gradient is a fixed pattern whose sign the batch's identity chooses, of
// the size 1/64, so the weights take a random walk. The pattern is the same for
// every row, so the updates of a batch do not depend on the order of its rows;
// like the gradient of the linear probe, it consists of multiples of 1/64.
// Scores are 0, and the objective has no figures (UnmeasuredMetrics). The loss
// is 0, as no real one is, so it is shown as not known.
//
// Thread rule: that of Model, except that error() is thread-safe.
class ReplayedModel final : public Model {
 public:
  // Two hosts differ in a step as steps of one host do that are 7 to 16 apart;
  // steps next to each other differ less (docs/benchmarking.md, "Compute from a
  // record"). A prime number, so that workers of short profiles differ too.
  static constexpr size_t kStepsApart = 7;

  // `model` is the one that is played: its variables and its objective.
  // `worker` is the number of the worker in its job, and chooses the step that
  // it begins with. `clock`, which may be that of the thread that calls,
  // outlives the replay. REQUIRES: worker >= 0, scale > 0, and the profile,
  // which has a step, is of the model's shape (CheckSameShape).
  ReplayedModel(std::unique_ptr<Model> model,
                std::shared_ptr<const ComputeProfile> profile, int worker,
                double scale, SleepingClock* clock);

  const ModelSpec& spec() const override { return model_->spec(); }
  const Objective& objective() const override { return objective_; }
  void Predict(const ModelInput& input, absl::Span<float> logits) override;
  void ForwardBackward(const ModelInput& input, ModelOutput* output) override;

  ReplayError error() const;

 private:
  // The factor of the recorded times for a batch of so many examples.
  double FactorOf(int batch_size) const;
  void FillGradients(const ModelInput& input, ModelOutput* output) const;
  void Note(absl::Duration wanted, absl::Duration took);

  const std::unique_ptr<Model> model_;
  const UnmeasuredObjective objective_;
  const std::shared_ptr<const ComputeProfile> profile_;
  const double scale_;
  SleepingClock* const clock_;
  size_t next_;  // the profile's step that the next call takes
  mutable Mutex mu_;
  ReplayError error_ ABSL_GUARDED_BY(mu_);
};

}  // namespace shoal

#endif  // SHOAL_MODELS_REPLAYED_MODEL_H_
