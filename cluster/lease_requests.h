#ifndef SHOAL_CLUSTER_LEASE_REQUESTS_H_
#define SHOAL_CLUSTER_LEASE_REQUESTS_H_

#include <cstddef>
#include <deque>
#include <map>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "core/ids.h"

namespace shoal {

// The workers' requests for leases, first come first. A worker may have
// several. A request for which there is no lease may be parked under the host
// whose pieces the worker can read. It is not tried again before something for
// that host has changed, so the time of a grant does not grow with the number
// of waiting workers. The time of every call grows with the requests that it
// changes, that of Remove with all waiting requests. Pure logic;
// thread-compatible.
class LeaseRequests {
 public:
  // The worker wants one more lease.
  void Ask(Life worker);
  // Number of the worker's waiting requests, including parked requests.
  size_t Count(Life worker) const;
  // Takes the request that is to be tried next; nullopt if all are parked.
  std::optional<Life> Next();
  // Puts back a request that Next returned and that was not granted. It comes
  // before all others again from the next call of Retry on.
  void PutBack(Life worker) { put_back_.push_back(worker); }
  void Retry();
  // Puts the request back until Wake(host) or WakeAll is called.
  void Park(Life worker, int host);
  void Wake(int host);
  void WakeAll();
  // The request that Next returned is granted, or its worker is gone.
  void Forget(Life worker);

  bool empty() const { return counts_.empty(); }
  // Removes all requests of one worker, or of all workers.
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
