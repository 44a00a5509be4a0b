#include "coordinator/job_clock.h"

#include <algorithm>

namespace shoal {

JobClock::JobClock(const CoordinatorOptions& options, absl::Time now)
    : num_workers_(static_cast<size_t>(options.num_workers)),
      all_must_come_(options.scopes.any() || options.lanes),
      start_deadline_(options.start_deadline),
      worker_grace_(options.worker_grace),
      progress_deadline_(options.progress_deadline),
      report_deadline_(options.report_deadline),
      linger_(options.linger),
      patience_(now, options.heartbeat_interval),
      start_seen_(now),
      worker_seen_(now),
      progress_seen_(now),
      phase_began_(now) {}

bool JobClock::Gather(bool all_ps, size_t workers) {
  if (!all_ps || workers == 0) {
    gathered_since_.reset();
    return false;
  }
  if (!gathered_since_.has_value()) gathered_since_ = now();
  return workers >= num_workers_ ||
         (!all_must_come_ && now() - *gathered_since_ >= worker_grace_);
}

absl::Duration JobClock::LeftToStart() const {
  return std::max(start_seen_ + start_deadline_ - now(), absl::ZeroDuration());
}

std::optional<Overdue> JobClock::Check(JobPhase phase, bool all_ps) const {
  if (phase == JobPhase::kGathering &&
      now() - start_seen_ >= start_deadline_) {
    if (!all_ps) return Overdue::kServers;
    if (all_must_come_) return Overdue::kHosts;
  }
  if (phase < JobPhase::kReporting && all_ps &&
      now() - worker_seen_ >= start_deadline_) {
    return Overdue::kWorker;
  }
  if (Leases(phase) && now() - progress_seen_ >= progress_deadline_) {
    return Overdue::kProgress;
  }
  if (phase == JobPhase::kReporting &&
      now() - phase_began_ >= report_deadline_) {
    return Overdue::kReport;
  }
  return std::nullopt;
}

}  // namespace shoal
