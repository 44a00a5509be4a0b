#include "core/optimizer_spec.h"

#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "core/optimizer_names.h"

namespace shoal {
namespace {

absl::Status CheckRange(absl::string_view what, float value, bool ok) {
  if (std::isfinite(value) && ok) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, " = ", value));
}

}  // namespace

absl::StatusOr<OptimizerKind> ParseOptimizerKind(absl::string_view name) {
  for (const Choice<OptimizerKind>& choice : kOptimizerNames) {
    if (absl::EqualsIgnoreCase(name, choice.word)) return choice.value;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "optimizer '", name, "' is not one of ",
      absl::StrJoin(kOptimizerNames, ", ",
                    [](std::string* out, const auto& choice) {
                      absl::StrAppend(out, choice.word);
                    })));
}

absl::string_view OptimizerName(OptimizerKind kind) {
  for (const Choice<OptimizerKind>& choice : kOptimizerNames) {
    if (choice.value == kind) return choice.word;
  }
  return "unknown";
}

int64_t OptimizerSpec::slot_floats(int64_t weights) const {
  switch (kind) {
    case OptimizerKind::kSgd:
      return 0;
    case OptimizerKind::kAdagrad:
      return weights;
    case OptimizerKind::kRowwiseAdagrad:
      return 1;
    case OptimizerKind::kAdam:
    case OptimizerKind::kFtrl:
      return 2 * weights;
  }
  return 0;
}

absl::Status OptimizerSpec::Validate() const {
  SHOAL_RETURN_IF_ERROR(CheckRange("learning_rate must be finite and positive",
                                   learning_rate, learning_rate > 0));
  SHOAL_RETURN_IF_ERROR(
      CheckRange("l2_reg must be finite and at least 0", l2, l2 >= 0));
  SHOAL_RETURN_IF_ERROR(
      CheckRange("adagrad_initial_accumulator must be finite and positive",
                 adagrad_initial_accumulator, adagrad_initial_accumulator > 0));
  SHOAL_RETURN_IF_ERROR(
      CheckRange("ftrl_initial_accumulator must be finite and positive",
                 ftrl_initial_accumulator, ftrl_initial_accumulator > 0));
  SHOAL_RETURN_IF_ERROR(CheckRange("ftrl_l1 must be finite and at least 0",
                                   ftrl_l1, ftrl_l1 >= 0));
  SHOAL_RETURN_IF_ERROR(CheckRange("ftrl_l2 must be finite and at least 0",
                                   ftrl_l2, ftrl_l2 >= 0));
  SHOAL_RETURN_IF_ERROR(CheckRange("adam_beta1 must be in [0, 1)", adam_beta1,
                                   adam_beta1 >= 0 && adam_beta1 < 1));
  SHOAL_RETURN_IF_ERROR(CheckRange("adam_beta2 must be in [0, 1)", adam_beta2,
                                   adam_beta2 >= 0 && adam_beta2 < 1));
  return CheckRange("adam_epsilon must be positive", adam_epsilon,
                    adam_epsilon > 0);
}

}  // namespace shoal
