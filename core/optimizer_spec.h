#ifndef SHOAL_CORE_OPTIMIZER_SPEC_H_
#define SHOAL_CORE_OPTIMIZER_SPEC_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace shoal {

enum class OptimizerKind { kSgd, kAdagrad, kAdam };

// "sgd", "adagrad", "adam", in any case; INVALID_ARGUMENT lists them.
absl::StatusOr<OptimizerKind> ParseOptimizerKind(absl::string_view name);
absl::string_view OptimizerName(OptimizerKind kind);

// How one variable is updated from its gradient g. Formulas: ps/optimizer/.
struct OptimizerSpec {
  OptimizerKind kind = OptimizerKind::kAdam;
  float learning_rate = 5e-4f;
  // Adds l2 * w to the gradient at apply, once a push, for the rows of that
  // push alone (l2_scope=touched). 0: none.
  float l2 = 0;
  float adagrad_initial_accumulator = 1e-8f;
  float adam_beta1 = 0.9f;
  float adam_beta2 = 0.999f;
  float adam_epsilon = 1e-8f;

  // Floats of optimizer state kept beside each weight: 0, 1 (accumulator) or
  // 2 (m, v).
  int slots_per_weight() const;
  // Refuses rates and constants that are not finite or out of range.
  absl::Status Validate() const;
};

}  // namespace shoal

#endif  // SHOAL_CORE_OPTIMIZER_SPEC_H_
