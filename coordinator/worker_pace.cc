#include "coordinator/worker_pace.h"

#include <utility>

#include "base/status_macros.h"
#include "coordinator/job_effects.h"
#include "core/step_messages.h"

namespace shoal {

WorkerPace::WorkerPace(const std::optional<SspClocksOptions>& options) {
  if (options.has_value()) clocks_.emplace(*options);
}

absl::Status WorkerPace::OnFinished(Life worker, uint64_t steps) {
  if (!clocks_.has_value()) {
    return absl::InvalidArgumentError("this job limits no worker's steps");
  }
  SHOAL_ASSIGN_OR_RETURN(const SspPaces paces,
                         clocks_->OnFinished(worker, steps));
  Add(paces);
  return absl::OkStatus();
}

void WorkerPace::OnLost(Life worker) {
  if (clocks_.has_value()) Add(clocks_->OnLost(worker));
}

CoordinatorActions WorkerPace::Follow(
    const Membership& membership,
    absl::FunctionRef<bool(Life worker)> holds) {
  CoordinatorActions actions;
  if (!clocks_.has_value()) return actions;
  for (const Member& worker : membership.Open(Role::kWorker)) {
    Add(holds(worker.life) ? clocks_->OnLease(worker.life)
                           : clocks_->OnNoLease(worker.life));
  }
  for (const SspPace& pace : std::exchange(to_send_, {})) {
    const Member* const worker = membership.FindLife(pace.worker);
    if (worker == nullptr || !worker->open()) continue;
    Send(*worker, Pace{pace.until}, &actions);
  }
  return actions;
}

void WorkerPace::Add(const SspPaces& paces) {
  to_send_.insert(to_send_.end(), paces.begin(), paces.end());
}

}  // namespace shoal
