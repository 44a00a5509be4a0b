#include "ps/shard/staleness.h"

#include "base/check.h"

namespace shoal {

void StalenessLog::Record(Life worker, const Version& pulled,
                          const Version& now,
                          absl::Span<const uint32_t> touched) {
  if (pulled.life != now.life || pulled.count > now.count) {
    ++pulled_in_other_life_;
    return;
  }
  const uint64_t staleness = now.count - pulled.count;
  all_.Add(staleness);
  for (const uint32_t variable : touched) {
    SHOAL_DCHECK(variable < by_variable_.size());
    by_variable_[variable].Add(staleness);
  }
  const size_t told_apart = by_worker_.size() - by_worker_.count(Life{});
  if (told_apart >= kWorkersMax && !by_worker_.contains(worker)) {
    // Life numbers grow, so the first valid one is the oldest.
    const auto oldest = by_worker_.upper_bound(Life{});
    const Histogram old = oldest->second;
    by_worker_.erase(oldest);
    by_worker_[Life{}].Merge(old);
  }
  by_worker_[worker].Add(staleness);
}

}  // namespace shoal
