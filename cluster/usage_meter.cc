#include "cluster/usage_meter.h"

#include <algorithm>

namespace shoal {

void UsageMeter::NewLife(absl::Time now) {
  earlier_lives_ += this_life_;
  this_life_ = 0;
  newest_ = now;
  // Between a life's last message and the next life nothing was used.
  Resolve(open_, now, cpu_seconds());
  Resolve(close_, now, cpu_seconds());
}

void UsageMeter::Add(const ResourceUsage& usage, absl::Time now) {
  this_life_ = std::max(this_life_, usage.cpu_seconds);
  peak_rss_bytes_ =
      std::max({peak_rss_bytes_, usage.peak_rss_bytes, usage.rss_bytes});
  Resolve(open_, now, cpu_seconds());
  Resolve(close_, now, cpu_seconds());
  newest_ = now;
}

void UsageMeter::OpenWindow(absl::Time now) { open_ = NewEdge(now); }

void UsageMeter::CloseWindow(absl::Time now) { close_ = NewEdge(now); }

std::optional<UsageMeter::Edge> UsageMeter::NewEdge(absl::Time now) const {
  return Edge{now, newest_.value_or(now), cpu_seconds()};
}

void UsageMeter::Resolve(std::optional<Edge>& edge, absl::Time now,
                         double value) {
  if (!edge.has_value() || edge->resolved) return;
  const absl::Duration span = now - edge->before;
  if (span > absl::ZeroDuration()) {
    const double share =
        absl::FDivDuration(std::min(edge->at, now) - edge->before, span);
    edge->value += (value - edge->value) * share;
  }
  edge->resolved = true;
}

double UsageMeter::WindowCpuSeconds() const {
  const double from = open_.has_value() ? open_->value : 0;
  const double to = close_.has_value() ? close_->value : cpu_seconds();
  return std::max(0.0, to - from);
}

}  // namespace shoal
