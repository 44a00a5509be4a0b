#include "bench/compare/grey_reason.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace shoal {

std::string GreyReason(const CellRun& run) {
  if (!run.ok) {
    return absl::StrCat("run ", run.repeat + 1, " failed: ", run.error);
  }
  if (run.link_expected.has_value() && run.link_bits_per_second.has_value() &&
      *run.link_expected > 0) {
    const double ratio = *run.link_bits_per_second / *run.link_expected;
    if (std::abs(ratio - 1) > kLinkTolerance) {
      return absl::StrFormat(
          "before run %d the test stream reached %.1f %% of what the link "
          "has to carry, where %.0f to %.0f %% are asked for",
          run.repeat + 1, 100 * ratio, 100 * (1 - kLinkTolerance),
          100 * (1 + kLinkTolerance));
    }
  }
  if (run.others_cores > kOthersMost) {
    return absl::StrFormat("other programs used %.2f of a core during run %d",
                           run.others_cores, run.repeat + 1);
  }
  if (!run.paused_speed_known) {
    return absl::StrCat(
        "before run ", run.repeat + 1,
        " it could not be measured how much pauses slow its hosts down");
  }
  return "";
}

std::string GreyReason(const Cell& cell) {
  if (cell.runs.empty()) return "it was not measured";
  for (const CellRun& run : cell.runs) {
    const std::string reason = GreyReason(run);
    if (!reason.empty()) return reason;
  }
  return "";
}

}  // namespace shoal
