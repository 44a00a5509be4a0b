#ifndef SHOAL_CLUSTER_LEASE_REQUESTS_H_
#define SHOAL_CLUSTER_LEASE_REQUESTS_H_

#include <cstddef>
#include <deque>
#include <map>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "core/ids.h"

namespace shoal {

// Workers that want a lease, each as often as it has asked, first come first.
// One for which there is none may be parked under the host whose pieces it can
// read: it is not looked at again before something for that host has changed,
// so that a grant takes no time by the workers that wait. Every call takes time
// by the requests that it changes; Remove by all that wait. Pure logic;
// thread-compatible.
class LeaseRequests {
 public:
  // The worker wants one more lease.
  void Ask(Life worker);
  // How many requests of the worker wait, parked ones too.
  size_t Count(Life worker) const;
  // Takes the request that is to be tried next; nothing if all are parked.
  std::optional<Life> Next();
  // A request that Next returned and that was not granted: before all others
  // again, from the next call of Retry on.
  void PutBack(Life worker) { put_back_.push_back(worker); }
  void Retry();
  // The same, but only after Wake(host) or WakeAll.
  void Park(Life worker, int host);
  void Wake(int host);
  void WakeAll();
  // The request that Next returned is granted, or its worker is gone.
  void Forget(Life worker);

  bool empty() const { return counts_.empty(); }
  // All requests of one worker, and of all.
  void Remove(Life worker);
  void Clear() { *this = LeaseRequests(); }

 private:
  std::deque<Life> to_try_;
  std::deque<Life> put_back_;
  std::map<int, std::deque<Life>> parked_;  // by host
  absl::flat_hash_map<Life, size_t> counts_;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_LEASE_REQUESTS_H_
