#ifndef SHOAL_CMD_PLAN_CALIBRATION_H_
#define SHOAL_CMD_PLAN_CALIBRATION_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plan/calibration.h"

namespace shoal {

// The calibration that a compare.json (docs/comparing.md) gives for `model`
// ("": its only model): from cells of 1 and 2 hosts that trained, all hosts at
// one speed, and that are not greyed. INVALID_ARGUMENT names the key that is
// wrong, or says which cells are missing.
absl::StatusOr<Calibration> CalibrationFromComparison(absl::string_view json,
                                                      const std::string& model);

}  // namespace shoal

#endif  // SHOAL_CMD_PLAN_CALIBRATION_H_
