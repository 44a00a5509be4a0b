#ifndef SHOAL_COORDINATOR_LEASE_DESK_H_
#define SHOAL_COORDINATOR_LEASE_DESK_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "cluster/lease_requests.h"
#include "cluster/lease_table.h"
#include "cluster/membership.h"

namespace shoal {

// Gives leases to the workers that ask for them, first come first, and numbers
// them. Which pieces there are is the lease tables' business. Pure logic;
// thread-compatible.
class LeaseDesk {
 public:
  // A worker asks for the next lease when it has read the last; it may look a
  // few pieces ahead.
  static constexpr int kMaxRequests = 16;

  // The worker wants one more lease. RESOURCE_EXHAUSTED: kMaxRequests of it
  // wait.
  absl::Status Ask(const Member& worker);
  // Drops the requests of a worker whose life is over.
  void Remove(Life worker) { waiting_.Remove(worker); }
  // Drops all requests.
  void Clear() { waiting_.Clear(); }
  // Time has passed: the next Serve looks again at the requests for which the
  // table had nothing.
  void WakeAll() { waiting_.WakeAll(); }

  // Serves the waiting requests for which `table` has a lease now: calls `give`
  // with each worker and what that worker is given. Workers whose connection is
  // broken keep their place.
  void Serve(
      const Membership& membership, LeaseTable* table, absl::Time now,
      absl::FunctionRef<void(const Member& worker, const LeaseTable::Held&)>
          give);

  // The number for a lease that no table gives.
  uint64_t TakeNumber() { return next_number_++; }
  // Whether a lease has this number.
  bool Gave(uint64_t number) const {
    return number != 0 && number < next_number_;
  }

 private:
  // Requests that were parked, and for which the table may have something now.
  void Wake(LeaseTable* table);

  LeaseRequests waiting_;
  uint64_t next_number_ = 1;
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_LEASE_DESK_H_
