#ifndef SHOAL_CORE_OPTIMIZER_SPEC_H_
#define SHOAL_CORE_OPTIMIZER_SPEC_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace shoal {

enum class OptimizerKind { kSgd, kAdagrad, kRowwiseAdagrad, kAdam, kFtrl };

// "sgd", "adagrad", "rowwise_adagrad", "adam", "ftrl", in any case;
// INVALID_ARGUMENT lists them.
absl::StatusOr<OptimizerKind> ParseOptimizerKind(absl::string_view name);
absl::string_view OptimizerName(OptimizerKind kind);

// The rows of a table that L2 pulls towards 0 at a push.
enum class L2Scope {
  kTouched,  // the rows of the push
  kTable,    // every row in existence
};

// The rule that updates one variable from its gradient g. Formulas:
// ps/optimizer/.
struct OptimizerSpec {
  OptimizerKind kind = OptimizerKind::kAdam;
  float learning_rate = 5e-4f;
  // A shard applies its push number t, from 1, at the rate
  // learning_rate * min(1, t / warmup_batches). 0: always at learning_rate.
  uint64_t warmup_batches = 0;
  // L2 weight: l2 * w is added to the gradient at apply, once a push, in the
  // rows of l2_scope. A dense block always counts as touched. 0: no L2. With
  // kTable and l2 > 0 the gradient of a table is dense: rows that the push does
  // not name are updated too, with the gradient l2 * w, and so are their slots.
  float l2 = 0;
  L2Scope l2_scope = L2Scope::kTouched;
  float adagrad_initial_accumulator = 1e-8f;  // also for rowwise_adagrad
  float ftrl_initial_accumulator = 0.1f;
  float ftrl_l1 = 0;
  float ftrl_l2 = 0;
  float adam_beta1 = 0.9f;
  float adam_beta2 = 0.999f;
  float adam_epsilon = 1e-8f;

  // Floats of optimizer state beside `weights` weights, which are one row's or
  // one dense block's: none (sgd), one a weight (adagrad), one for all of them
  // (rowwise_adagrad), or two a weight (adam, ftrl).
  int64_t slot_floats(int64_t weights) const;
  // Refuses rates and constants that are not finite or out of range.
  absl::Status Validate() const;
};

}  // namespace shoal

#endif  // SHOAL_CORE_OPTIMIZER_SPEC_H_
