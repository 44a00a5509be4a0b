#ifndef SHOAL_PS_OPTIMIZER_OPTIMIZER_STEP_H_
#define SHOAL_PS_OPTIMIZER_OPTIMIZER_STEP_H_

#include <cstdint>

#include "absl/types/span.h"
#include "core/optimizer_spec.h"

namespace shoal {

// One push's update of one variable. The constructor computes the values that
// depend only on the step; Apply is then called for each row or block.
// Immutable.
class OptimizerStep {
 public:
  // t >= 1 is the number of this push among the pushes that the shard admitted.
  // `spec` must outlive the step.
  OptimizerStep(const OptimizerSpec& spec, uint64_t t);

  // `slots` has slot_floats(weights.size()) floats: Adagrad's accumulators;
  // row-wise Adagrad's one accumulator; Adam's m, then its v; FTRL's
  // accumulators, then its linear terms. `weights` are the weights of one whole
  // row or block. REQUIRES: gradient of weights.size(); no span overlaps
  // another.
  void Apply(absl::Span<const float> gradient, absl::Span<float> weights,
             absl::Span<float> slots) const;

  // True if the step updates every row of a table at every push, because its L2
  // is above 0 and has the scope of the whole table.
  bool of_whole_table() const {
    return spec_.l2 > 0 && spec_.l2_scope == L2Scope::kTable;
  }

 private:
  const OptimizerSpec& spec_;
  const float rate_;  // from the schedule; for Adam, rate(t)
};

// Overwrites the slots of a new variable or row, laid out as in Apply, with
// their initial values.
void InitialiseSlots(const OptimizerSpec& spec, absl::Span<float> slots);

}  // namespace shoal

#endif  // SHOAL_PS_OPTIMIZER_OPTIMIZER_STEP_H_
