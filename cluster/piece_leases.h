#ifndef SHOAL_CLUSTER_PIECE_LEASES_H_
#define SHOAL_CLUSTER_PIECE_LEASES_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/ids.h"

namespace shoal {

// A lease that a worker holds.
struct HeldLease {
  uint64_t number = 0;
  Life owner;
  uint32_t epoch = 0;
  uint32_t piece = 0;
  bool copy = false;       // a speculative copy, worked on from the end
  bool settling = false;   // its owner said LeaseDone
  bool suspended = false;  // its owner's session is broken
  absl::Time until;
  absl::Time progress;  // the newest mark, or the grant
};

// The leases of a job's pieces for one purpose: which worker has which piece of
// which epoch, and which piece a worker gets next. The coordinator serves the
// workers through this seam and does not know by which rule pieces are given
// out.
//
//   LeaseTable  to the worker that asks first (lease_table.h)
//   LaneTable   to the ranks of a synchronous mode, by their lanes
//               (lane_table.h)
//
// Pure logic, thread-compatible.
class PieceLeases {
 public:
  virtual ~PieceLeases() = default;

  // Leases nothing of epoch `epoch` and of later ones. A limit may only grow.
  // At first there is no limit.
  virtual void SetLimit(uint32_t epoch) = 0;

  // The next lease for `owner` on `host`; nullopt if there is no lease for it
  // now. The lease gets `number`, which grows and was never used before.
  virtual std::optional<HeldLease> Take(Life owner, int host, uint64_t number,
                                        absl::Time now) = 0;
  // True only if there is no lease now for any worker.
  virtual bool NothingToTake(absl::Time now) const = 0;
  // If has_hosts(): the hosts for which there may be a new lease since the last
  // call, each once; kEveryHost means all hosts.
  static constexpr int kEveryHost = -1;
  virtual std::vector<int> TakeNews() = 0;
  // True if a worker that gets no lease now waits for news of its host.
  virtual bool has_hosts() const = 0;
  // True if a piece whose lease failed may be leased to another worker.
  virtual bool shared() const = 0;

  // The owner is alive: its leases run on.
  virtual void Renew(Life owner, absl::Time now) = 0;
  // The owner may be dead.
  virtual void Suspend(Life owner) = 0;
  // A batch that was computed under this lease got a new mark.
  virtual void Progress(uint64_t lease, absl::Time now) = 0;

  // The owner sent LeaseDone or LeaseFailed. If the lease is over or is not the
  // owner's, nothing happens: messages may be late. Failed returns the lease's
  // (epoch, piece).
  virtual void Done(uint64_t lease, Life owner, absl::Time now) = 0;
  virtual std::optional<std::pair<uint32_t, uint32_t>> Failed(uint64_t lease,
                                                              Life owner) = 0;
  // The owner's life is over.
  virtual void EndOwner(Life owner) = 0;
  // Ends the leases whose time has run out. Looks at all leases.
  virtual void Expire(absl::Time now) = 0;

  // Every batch of the piece is complete.
  virtual void Complete(uint32_t epoch, uint32_t piece) = 0;

  // True if the piece failed on each of these lives.
  virtual bool FailedOnAll(uint32_t epoch, uint32_t piece,
                           absl::Span<const Life> lives) const = 0;

  // nullptr if the lease is over.
  virtual const HeldLease* Find(uint64_t lease) const = 0;
  // True if the owner has a lease that does not settle. Looks at its leases.
  virtual bool Holds(Life owner) const = 0;
  // A copy of all leases, by number.
  virtual std::vector<HeldLease> held() const = 0;

 protected:
  PieceLeases() = default;
  PieceLeases(const PieceLeases&) = default;
  PieceLeases& operator=(const PieceLeases&) = default;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_PIECE_LEASES_H_
