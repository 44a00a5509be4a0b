#include "cluster/ssp_clocks.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"

namespace shoal {

SspPaces SspClocks::OnLease(Life life) {
  Worker& worker = workers_[life];
  if (worker.holds) return {};
  worker.holds = true;
  worker.clock = least_;
  ++holders_;
  SspPaces paces;
  TellIfChanged(life, &worker, &paces);
  return paces;
}

SspPaces SspClocks::OnNoLease(Life life) {
  const auto it = workers_.find(life);
  if (it == workers_.end() || !it->second.holds) return {};
  it->second.holds = false;
  --holders_;
  SspPaces paces = Changes();
  // The worker may wait in a lease that ended without its knowledge.
  TellIfChanged(life, &it->second, &paces);
  return paces;
}

SspPaces SspClocks::OnLost(Life life) {
  const auto it = workers_.find(life);
  if (it == workers_.end()) return {};
  if (it->second.holds) --holders_;
  workers_.erase(it);
  return Changes();
}

absl::StatusOr<SspPaces> SspClocks::OnFinished(Life life, uint64_t finished) {
  const auto it = workers_.find(life);
  if (it == workers_.end()) return SspPaces{};
  Worker& worker = it->second;
  if (finished < worker.finished ||
      finished > worker.until + options_.depth) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the worker of life ", ToString(life), " says that it has finished ",
        finished, " steps; it had finished ", worker.finished,
        ", and could not begin more than ", worker.until + options_.depth));
  }
  if (worker.holds) worker.clock += finished - worker.finished;
  worker.finished = finished;
  if (worker.holds) return Changes();
  SspPaces paces;
  TellIfChanged(life, &worker, &paces);
  return paces;
}

std::vector<Life> SspClocks::Slowest() const {
  std::vector<Life> slowest;
  for (const auto& [life, worker] : workers_) {
    if (worker.holds && worker.clock == least_) slowest.push_back(life);
  }
  return slowest;
}

uint64_t SspClocks::LeastClock() const {
  uint64_t least = std::numeric_limits<uint64_t>::max();
  for (const auto& [life, worker] : workers_) {
    if (worker.holds) least = std::min(least, worker.clock);
  }
  return least;
}

SspPaces SspClocks::Changes() {
  if (holders_ == 0) return {};
  const uint64_t least = LeastClock();
  if (least == least_) return {};
  least_ = least;
  SspPaces paces;
  for (auto& [life, worker] : workers_) {
    if (worker.holds) TellIfChanged(life, &worker, &paces);
  }
  return paces;
}

void SspClocks::TellIfChanged(Life life, Worker* worker,
                              SspPaces* paces) const {
  // A clock is never further ahead than the worker has done steps since it
  // joined, so nothing here is negative.
  const uint64_t ahead = worker->holds ? worker->clock - least_ : 0;
  const uint64_t until =
      worker->finished + uint64_t{options_.bound} + 1 - ahead;
  if (until <= worker->until) return;
  worker->until = until;
  paces->push_back({life, until});
}

}  // namespace shoal
