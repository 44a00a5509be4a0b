#include "ps/optimizer/optimizer_step.h"

#include <algorithm>

#include "base/check.h"
#include "ps/optimizer/adam.h"
#include "ps/optimizer/ftrl.h"
#include "ps/optimizer/learning_rate.h"
#include "ps/optimizer/rowwise_adagrad.h"
#include "ps/optimizer/sgd.h"
#include "ps/optimizer/vector_update.h"

namespace shoal {
namespace {

float RateOf(const OptimizerSpec& spec, uint64_t t) {
  if (spec.kind == OptimizerKind::kAdam) return AdamRate(spec, t);
  return static_cast<float>(LearningRateAt(spec, t));
}

}  // namespace

OptimizerStep::OptimizerStep(const OptimizerSpec& spec, uint64_t t)
    : spec_(spec), rate_(RateOf(spec, t)) {}

void OptimizerStep::Apply(absl::Span<const float> gradient,
                          absl::Span<float> weights,
                          absl::Span<float> slots) const {
  SHOAL_DCHECK(gradient.size() == weights.size());
  const size_t n = weights.size();
  switch (spec_.kind) {
    case OptimizerKind::kSgd:
      SgdApply(spec_, rate_, gradient, weights);
      return;
    case OptimizerKind::kAdagrad:
      VectorAdagrad(spec_, rate_, gradient, weights, slots);
      return;
    case OptimizerKind::kRowwiseAdagrad:
      RowwiseAdagradApply(spec_, rate_, gradient, weights, slots.data());
      return;
    case OptimizerKind::kAdam:
      VectorAdam(spec_, rate_, gradient, weights, slots.subspan(0, n),
                 slots.subspan(n, n));
      return;
    case OptimizerKind::kFtrl:
      FtrlApply(spec_, rate_, gradient, weights, slots.subspan(0, n),
                slots.subspan(n, n));
      return;
  }
}

void InitialiseSlots(const OptimizerSpec& spec, absl::Span<float> slots) {
  const auto middle = slots.begin() + slots.size() / 2;
  switch (spec.kind) {
    case OptimizerKind::kSgd:
    case OptimizerKind::kAdam:
      std::fill(slots.begin(), slots.end(), 0.0f);
      return;
    case OptimizerKind::kAdagrad:
    case OptimizerKind::kRowwiseAdagrad:
      std::fill(slots.begin(), slots.end(), spec.adagrad_initial_accumulator);
      return;
    case OptimizerKind::kFtrl:
      std::fill(slots.begin(), middle, spec.ftrl_initial_accumulator);
      std::fill(middle, slots.end(), 0.0f);
      return;
  }
}

}  // namespace shoal
