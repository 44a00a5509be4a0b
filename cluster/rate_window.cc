#include "cluster/rate_window.h"

namespace shoal {

RateWindow::RateWindow(absl::Duration span) : span_(span) {}

void RateWindow::Add(uint64_t count, absl::Time now) {
  // Points closer together than this add nothing but memory: the newest moves.
  const absl::Duration spacing = span_ / (kPoints / 2);
  if (points_.size() >= 2 &&
      now - points_[points_.size() - 2].first < spacing) {
    points_.back() = {now, count};
  } else {
    points_.push_back({now, count});
  }
  // One point at or before the window's start stays, to measure from.
  while (points_.size() > 2 && now - points_[1].first >= span_) {
    points_.pop_front();
  }
}

double RateWindow::PerSecond() const {
  if (points_.size() < 2) return 0;
  const absl::Duration span = points_.back().first - points_.front().first;
  // Counts of an open piece may be corrected downwards.
  if (span <= absl::ZeroDuration() ||
      points_.back().second < points_.front().second) {
    return 0;
  }
  return static_cast<double>(points_.back().second - points_.front().second) /
         absl::ToDoubleSeconds(span);
}

}  // namespace shoal
