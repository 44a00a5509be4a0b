#include "bench/compare/run_window.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace shoal {

RunWindow::RunWindow(uint64_t warmup, int hosts, absl::Duration cell_time,
                     bool slowed, double dilation)
    : warmup_(warmup),
      steps_(kLeastSteps * static_cast<uint64_t>(hosts)),
      cell_time_(cell_time),
      limit_(std::max(
          {kMostCellTimes * cell_time, kLeastLimit, dilation * kPlayedLimit})),
      begun_(!slowed) {}

bool RunWindow::IsOver(uint64_t step, absl::Duration trained) {
  if (!begun_ && step > 0 && 2 * step >= warmup_) {
    early_ = step;
    return true;
  }
  begun_ = true;
  if (cell_time_ == absl::ZeroDuration() || trained < cell_time_) return false;
  if (step >= warmup_ + steps_) return true;
  if (trained < limit_) return false;
  if (step < warmup_ + steps_ / 2) too_few_ = step;
  return true;
}

absl::Status RunWindow::status() const {
  if (early_.has_value()) {
    return absl::AbortedError(absl::StrCat(
        "the job had trained ", *early_,
        " steps before its hosts had their shares of the cores, too many for "
        "its warm-up; give a larger batch or a larger --warmup_steps"));
  }
  if (too_few_.has_value()) {
    return absl::DeadlineExceededError(absl::StrCat(
        "the job made ", *too_few_, " steps in ", absl::FormatDuration(limit_),
        ", and its figures need ", steps_ / 2, " after the ", warmup_,
        " of its warm-up; give a larger --cell_time"));
  }
  return absl::OkStatus();
}

}  // namespace shoal
