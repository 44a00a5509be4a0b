#ifndef SHOAL_COORDINATOR_LEASE_DESK_H_
#define SHOAL_COORDINATOR_LEASE_DESK_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "cluster/lease_requests.h"
#include "cluster/membership.h"
#include "cluster/piece_leases.h"

namespace shoal {

// Gives numbered leases to the workers that ask for them, first come first. The
// lease tables know the pieces. Pure logic; thread-compatible.
class LeaseDesk {
 public:
  // Requests of a worker that may wait. A worker asks for the next lease when
  // it has read the last, and may look a few pieces ahead.
  static constexpr int kMaxRequests = 16;

  // The worker wants one more lease. RESOURCE_EXHAUSTED: kMaxRequests of its
  // requests wait already.
  absl::Status Ask(const Member& worker);
  // Drops the requests of a worker whose life is over.
  void Remove(Life worker) { waiting_.Remove(worker); }
  // Drops all requests.
  void Clear() { waiting_.Clear(); }
  // Time has passed: the next Serve tries the requests again for which the
  // table had no lease.
  void WakeAll() { waiting_.WakeAll(); }

  // Serves the waiting requests for which `table` has a lease now: calls `give`
  // with each such worker and its lease. Workers whose connection is broken
  // keep their place.
  void Serve(
      const Membership& membership, PieceLeases* table, absl::Time now,
      absl::FunctionRef<void(const Member& worker, const HeldLease&)> give);

  // A number for a lease that is in no table.
  uint64_t TakeNumber() { return next_number_++; }
  // The highest number that was given; 0: none.
  uint64_t newest_number() const { return next_number_ - 1; }
  // True if a lease with this number was given.
  bool Gave(uint64_t number) const {
    return number != 0 && number < next_number_;
  }

 private:
  // Wakes the parked requests for which the table may have a lease now.
  void Wake(PieceLeases* table);

  LeaseRequests waiting_;
  uint64_t next_number_ = 1;
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_LEASE_DESK_H_
