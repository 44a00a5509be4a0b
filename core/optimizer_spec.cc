#include "core/optimizer_spec.h"

#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

absl::Status CheckRange(absl::string_view what, float value, bool ok) {
  if (std::isfinite(value) && ok) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, " = ", value));
}

}  // namespace

absl::StatusOr<OptimizerKind> ParseOptimizerKind(absl::string_view name) {
  const std::string lower = absl::AsciiStrToLower(name);
  for (const OptimizerKind kind :
       {OptimizerKind::kSgd, OptimizerKind::kAdagrad, OptimizerKind::kAdam}) {
    if (lower == OptimizerName(kind)) return kind;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("optimizer '", name, "' is none of sgd, adagrad, adam"));
}

absl::string_view OptimizerName(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::kSgd:
      return "sgd";
    case OptimizerKind::kAdagrad:
      return "adagrad";
    case OptimizerKind::kAdam:
      return "adam";
  }
  return "unknown";
}

int OptimizerSpec::slots_per_weight() const {
  switch (kind) {
    case OptimizerKind::kSgd:
      return 0;
    case OptimizerKind::kAdagrad:
      return 1;
    case OptimizerKind::kAdam:
      return 2;
  }
  return 0;
}

absl::Status OptimizerSpec::Validate() const {
  SHOAL_RETURN_IF_ERROR(CheckRange("learning_rate must be finite and positive",
                                   learning_rate, learning_rate > 0));
  SHOAL_RETURN_IF_ERROR(
      CheckRange("l2_reg must be finite and at least 0", l2, l2 >= 0));
  SHOAL_RETURN_IF_ERROR(CheckRange("the initial accumulator must be positive",
                                   adagrad_initial_accumulator,
                                   adagrad_initial_accumulator > 0));
  SHOAL_RETURN_IF_ERROR(CheckRange("adam_beta1 must be in [0, 1)", adam_beta1,
                                   adam_beta1 >= 0 && adam_beta1 < 1));
  SHOAL_RETURN_IF_ERROR(CheckRange("adam_beta2 must be in [0, 1)", adam_beta2,
                                   adam_beta2 >= 0 && adam_beta2 < 1));
  return CheckRange("adam_epsilon must be positive", adam_epsilon,
                    adam_epsilon > 0);
}

}  // namespace shoal
