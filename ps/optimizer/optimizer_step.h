#ifndef SHOAL_PS_OPTIMIZER_OPTIMIZER_STEP_H_
#define SHOAL_PS_OPTIMIZER_OPTIMIZER_STEP_H_

#include <cstdint>

#include "absl/types/span.h"
#include "core/optimizer_spec.h"

namespace shoal {

// One push's update of one variable: what depends on the step alone is computed
// here once, and Apply is then called for each row or block. Immutable.
class OptimizerStep {
 public:
  // t >= 1: the number of this push among those the shard admitted. `spec`
  // must outlive the step.
  OptimizerStep(const OptimizerSpec& spec, uint64_t t);

  // slots: slot_floats(weights.size()) floats: Adagrad's accumulators; row-wise
  // Adagrad's one; Adam's m, then its v; FTRL's accumulators, then its linear
  // terms. `weights` are those of one whole row or block. REQUIRES: gradient of
  // weights.size(); no span overlaps another.
  void Apply(absl::Span<const float> gradient, absl::Span<float> weights,
             absl::Span<float> slots) const;

  // Whether it is for every row of a table at every push: it has an L2, and
  // that is of the whole table.
  bool of_whole_table() const {
    return spec_.l2 > 0 && spec_.l2_scope == L2Scope::kTable;
  }

 private:
  const OptimizerSpec& spec_;
  const float rate_;  // by the schedule; Adam's rate(t)
};

// Overwrites the slots of a new variable or row, laid out as in Apply, with
// what they start from.
void InitialiseSlots(const OptimizerSpec& spec, absl::Span<float> slots);

}  // namespace shoal

#endif  // SHOAL_PS_OPTIMIZER_OPTIMIZER_STEP_H_
