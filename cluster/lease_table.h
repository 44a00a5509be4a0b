#ifndef SHOAL_CLUSTER_LEASE_TABLE_H_
#define SHOAL_CLUSTER_LEASE_TABLE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/ids.h"

namespace shoal {

struct LeaseTableOptions {
  uint32_t num_epochs = 1;
  uint32_t num_pieces = 0;
  uint64_t seed = 1;
  bool shuffle = true;  // the order of pieces; see piece_order.h
  // By piece: the only host that can read it (FileList::hosts). Empty: any.
  std::vector<int> hosts;
  // A lease that is not renewed for so long is over. Larger: a dead worker's
  // pieces wait longer.
  absl::Duration lease_time = absl::Seconds(10);
  // A lease that made no progress for so long may be copied to a worker for
  // which nothing else is left. Larger: stragglers hold up the end for longer;
  // smaller: more batches are computed twice.
  absl::Duration speculate_after = absl::Seconds(2);
};

// Which piece of which epoch is whose. Pure logic, thread-compatible.
//
// Epochs follow each other without a barrier: when an epoch's last piece is
// leased, the next one's first may be, unless there is a limit (SetLimit). A
// piece is leased until it is complete; a lease that ends before (its owner
// died, its time ran out, its reader failed) makes it leasable again, before
// any piece that nobody has had. LeaseDone only says that the marks are on
// their way: the piece *settles*, leased to nobody new, until it is complete or
// the lease's time runs out. A piece has at most two leases at a time: the
// second is a speculative copy. Where pieces belong to hosts, one host may be
// an epoch ahead of the others.
class LeaseTable {
 public:
  LeaseTable() : LeaseTable(LeaseTableOptions{}) {}
  explicit LeaseTable(LeaseTableOptions options);

  struct Held {
    uint64_t number = 0;
    Life owner;
    uint32_t epoch = 0;
    uint32_t piece = 0;
    bool copy = false;      // speculative: to be worked on from the end
    bool settling = false;  // its owner said LeaseDone
    absl::Time until;
    absl::Time progress;  // its newest mark, or its grant
  };

  // Nothing from this place on is leased from now on: epochs from `epoch` on,
  // and of that one itself all but its first `pieces`, in its order. A limit
  // may only grow. At first there is none.
  void SetLimit(uint32_t epoch, uint32_t pieces = 0) {
    limit_ = Place{epoch, pieces};
  }

  // The next lease for `owner` on `host`, to be known as `number` (growing,
  // never used before); nullopt if there is none for it now.
  std::optional<Held> Take(Life owner, int host, uint64_t number,
                           absl::Time now);

  // The owner is alive: its leases run on, except those that settle.
  void Renew(Life owner, absl::Time now);
  // A batch that was computed under the lease got a new mark.
  void Progress(uint64_t lease, absl::Time now);

  // LeaseDone and LeaseFailed of `owner`. A lease that is not the owner's, or
  // is over, is ignored: late words are normal. Failed returns (epoch, piece)
  // of the failed lease; that owner does not get the piece again.
  void Done(uint64_t lease, Life owner, absl::Time now);
  std::optional<std::pair<uint32_t, uint32_t>> Failed(uint64_t lease,
                                                      Life owner);
  void EndOwner(Life owner);
  // Ends the leases whose time has run out.
  void Expire(absl::Time now);

  // Every batch of the piece is done: it is leased no more, its leases are
  // over. May come before the piece was ever leased.
  void Complete(uint32_t epoch, uint32_t piece);
  // The piece is complete no more: it is leasable again.
  void Reopen(uint32_t epoch, uint32_t piece);

  // The piece failed on each of these lives.
  bool FailedOnAll(uint32_t epoch, uint32_t piece,
                   absl::Span<const Life> lives) const;

  // nullptr if the lease is over.
  const Held* Find(uint64_t lease) const;
  std::vector<Held> held() const;  // by number

 private:
  // (epoch, place in its order): pieces are leased by growing place.
  using Place = std::pair<uint32_t, uint32_t>;
  struct Work {  // a piece before next_ that is not complete
    uint32_t piece = 0;
    std::vector<uint64_t> leases;
    std::vector<Life> failed_on;
  };
  struct Order {  // both ways
    std::vector<uint32_t> piece_at;
    std::vector<uint32_t> place_of;
  };

  const Order& OrderOf(uint32_t epoch) const;
  Place PlaceOf(uint32_t epoch, uint32_t piece) const;
  // What `owner` may read: work with no lease, the first there is; then a new
  // piece; then what may be copied. end() if there is none.
  std::map<Place, Work>::iterator Choose(Life owner, int host, absl::Time now);
  bool MayRead(int host, uint32_t piece) const {
    return options_.hosts.empty() || options_.hosts[piece] == host;
  }
  void End(uint64_t lease);

  LeaseTableOptions options_;
  // By epoch, made when first asked for: 8 bytes a piece.
  mutable std::map<uint32_t, Order> orders_;
  // Nobody has had this one or any after it. Those before it are complete or
  // have Work: leased once, or passed over for a host that cannot read them.
  Place next_{0, 0};
  Place limit_;
  std::set<Place> early_;  // from next_ on: complete before anybody had them
  std::map<Place, Work> works_;
  std::map<uint64_t, Held> leases_;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_LEASE_TABLE_H_
