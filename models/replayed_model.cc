#include "models/replayed_model.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/check.h"
#include "base/stable_hash.h"

namespace shoal {
namespace {

// The share of the forward pass in the time of a step.
constexpr double kForwardShare = 1.0 / 3;
constexpr float kUnit = 1.0f / 64;

uint64_t HashOf(const BatchId& batch) {
  return StableHashCombine(StableHashCombine(batch.epoch, batch.piece),
                           batch.index);
}

// Signs alternate, so that neither the sum of all elements nor their squares
// grow out of bounds.
void FillAlternating(float value, absl::Span<float> out) {
  size_t i = 0;
  for (; i + 2 <= out.size(); i += 2) {
    out[i] = value;
    out[i + 1] = -value;
  }
  if (i < out.size()) out[i] = value;
}

}  // namespace

ReplayedModel::ReplayedModel(std::unique_ptr<Model> model,
                             std::shared_ptr<const ComputeProfile> profile,
                             int worker, double scale, SleepingClock* clock)
    : model_(std::move(model)),
      objective_(&model_->objective()),
      profile_(std::move(profile)),
      scale_(scale),
      clock_(clock),
      next_(kStepsApart * static_cast<size_t>(worker) %
            profile_->steps.size()) {
  SHOAL_DCHECK(worker >= 0 && scale > 0);
  SHOAL_DCHECK(!profile_->steps.empty());
  SHOAL_DCHECK(profile_->shape.dense_floats ==
               static_cast<uint64_t>(model_->spec().dense_size()));
}

double ReplayedModel::FactorOf(int batch_size) const {
  return scale_ * batch_size / profile_->shape.batch_size;
}

void ReplayedModel::Predict(const ModelInput& input, absl::Span<float> logits) {
  const absl::Time begin = clock_->Now();
  SHOAL_DCHECK(
      input.SizesAgree(spec(), objective_.num_scores(), logits.size()));
  std::fill(logits.begin(), logits.end(), 0.0f);
  const StepTimeline& step =
      profile_->steps[HashOf(input.batch) % profile_->steps.size()];
  clock_->SleepUntil(begin + kForwardShare * FactorOf(input.batch_size) *
                                 step.total);
}

void ReplayedModel::ForwardBackward(const ModelInput& input,
                                    ModelOutput* output) {
  const absl::Time begin = clock_->Now();
  SHOAL_DCHECK(input.batch_size >= 1);
  SHOAL_DCHECK(input.SizesAgree(spec(), objective_.num_scores(),
                                output->logits.size()));
  std::fill(output->logits.begin(), output->logits.end(), 0.0f);
  output->loss_sum = 0;
  FillGradients(input, output);

  const StepTimeline& step = profile_->steps[next_];
  next_ = (next_ + 1) % profile_->steps.size();
  const double factor = FactorOf(input.batch_size);
  absl::Duration told;  // the time that on_final has taken
  if (output->on_final) {
    for (const StepTimeline::Final& final : step.finals) {
      clock_->SleepUntil(begin + told + factor * final.at);
      const absl::Time now = clock_->Now();
      output->on_final(final.range);
      told += clock_->Now() - now;
    }
  }
  const absl::Duration wanted = factor * step.total + told;
  clock_->SleepUntil(begin + wanted);
  Note(wanted, clock_->Now() - begin);
}

void ReplayedModel::FillGradients(const ModelInput& input,
                                  ModelOutput* output) const {
  const float sign = (HashOf(input.batch) >> 32 & 1) != 0 ? kUnit : -kUnit;
  const double sum =
      spec().divides_gradient ? input.batch_size / input.loss_divisor : 1;
  const float value = sign * static_cast<float>(sum);
  FillAlternating(value, output->d_dense);
  for (size_t t = 0; t < output->d_rows.size(); ++t) {
    const absl::Span<float> rows = output->d_rows[t];
    const auto dim = static_cast<size_t>(spec().tables[t].row_dim());
    for (size_t at = 0; at < rows.size(); at += dim) {
      FillAlternating(value, rows.subspan(at, dim));
    }
  }
}

void ReplayedModel::Note(absl::Duration wanted, absl::Duration took) {
  const absl::Duration late = std::max(took - wanted, absl::ZeroDuration());
  MutexLock lock(&mu_);
  ++error_.steps;
  error_.wanted += wanted;
  error_.late += late;
  error_.latest = std::max(error_.latest, late);
}

ReplayError ReplayedModel::error() const {
  MutexLock lock(&mu_);
  return error_;
}

}  // namespace shoal
