#include "cluster/lease_requests.h"

#include <algorithm>

namespace shoal {

void LeaseRequests::Ask(Life worker) {
  to_try_.push_back(worker);
  ++counts_[worker];
}

size_t LeaseRequests::Count(Life worker) const {
  const auto it = counts_.find(worker);
  return it == counts_.end() ? 0 : it->second;
}

std::optional<Life> LeaseRequests::Next() {
  if (to_try_.empty()) return std::nullopt;
  const Life worker = to_try_.front();
  to_try_.pop_front();
  return worker;
}

void LeaseRequests::Retry() {
  to_try_.insert(to_try_.begin(), put_back_.begin(), put_back_.end());
  put_back_.clear();
}

void LeaseRequests::Park(Life worker, int host) {
  parked_[host].push_back(worker);
}

void LeaseRequests::Wake(int host) {
  const auto it = parked_.find(host);
  if (it == parked_.end()) return;
  to_try_.insert(to_try_.end(), it->second.begin(), it->second.end());
  parked_.erase(it);
}

void LeaseRequests::WakeAll() {
  while (!parked_.empty()) Wake(parked_.begin()->first);
}

void LeaseRequests::Forget(Life worker) {
  const auto it = counts_.find(worker);
  if (it != counts_.end() && --it->second == 0) counts_.erase(it);
}

void LeaseRequests::Remove(Life worker) {
  if (counts_.erase(worker) == 0) return;
  const auto drop = [worker](std::deque<Life>& from) {
    from.erase(std::remove(from.begin(), from.end(), worker), from.end());
  };
  drop(to_try_);
  drop(put_back_);
  for (auto it = parked_.begin(); it != parked_.end();) {
    drop(it->second);
    it = it->second.empty() ? parked_.erase(it) : std::next(it);
  }
}

}  // namespace shoal
