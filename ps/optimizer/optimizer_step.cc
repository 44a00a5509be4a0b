#include "ps/optimizer/optimizer_step.h"

#include <algorithm>

#include "ps/optimizer/adagrad.h"
#include "ps/optimizer/adam.h"
#include "ps/optimizer/sgd.h"

namespace shoal {

OptimizerStep::OptimizerStep(const OptimizerSpec& spec, uint64_t t)
    : spec_(spec),
      rate_(spec.kind == OptimizerKind::kAdam ? AdamRate(spec, t)
                                              : spec.learning_rate) {}

void OptimizerStep::Apply(absl::Span<const float> gradient,
                          absl::Span<float> weights,
                          absl::Span<float> slots) const {
  const size_t n = weights.size();
  switch (spec_.kind) {
    case OptimizerKind::kSgd:
      SgdApply(spec_, gradient, weights);
      return;
    case OptimizerKind::kAdagrad:
      AdagradApply(spec_, gradient, weights, slots);
      return;
    case OptimizerKind::kAdam:
      AdamApply(spec_, rate_, gradient, weights, slots.subspan(0, n),
                slots.subspan(n, n));
      return;
  }
}

void InitialiseSlots(const OptimizerSpec& spec, absl::Span<float> slots) {
  const float value = spec.kind == OptimizerKind::kAdagrad
                          ? spec.adagrad_initial_accumulator
                          : 0.0f;
  std::fill(slots.begin(), slots.end(), value);
}

}  // namespace shoal
