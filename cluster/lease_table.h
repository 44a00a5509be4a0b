#ifndef SHOAL_CLUSTER_LEASE_TABLE_H_
#define SHOAL_CLUSTER_LEASE_TABLE_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "cluster/piece_leases.h"
#include "core/ids.h"

namespace shoal {

struct LeaseTableOptions {
  uint32_t num_epochs = 1;
  uint32_t num_pieces = 0;
  uint64_t seed = 1;
  bool shuffle = true;  // shuffles the order of pieces; see piece_order.h
  // By piece: the only host that can read it (FileList::hosts). Empty: every
  // host can read all pieces.
  std::vector<int> hosts;
  // A lease that is not renewed for this time is over. Larger: a dead worker's
  // pieces wait longer.
  absl::Duration lease_time = absl::Seconds(10);
  // A lease without progress for this time may be copied to a worker for which
  // no other piece is left. Larger: stragglers hold up the end for longer;
  // smaller: more batches are computed twice.
  absl::Duration speculate_after = absl::Seconds(2);
};

// The leases of pieces that go to the worker that asks first. Pure logic,
// thread-compatible.
//
// Epochs follow each other without a barrier: when the last piece of an epoch
// is leased, the first piece of the next epoch may be leased, unless there is a
// limit (SetLimit). A piece is leased until it is complete. If its lease ends
// before that (the owner's life is over, the lease's time ran out, the reader
// failed), the piece may be leased again, before any piece that was never
// leased. LeaseDone only says that the marks are on their way: the lease
// *settles*. Its piece is leased to no other worker until the piece is complete
// or the lease's time runs out, and the end of the owner's life does not end
// the lease. A piece has at most two leases at a time: the second is a
// speculative copy. If pieces belong to hosts, one host may be an epoch ahead
// of the others.
//
// The time of a call grows with what it changes, not with the size of the
// table, unless the call's comment says otherwise.
class LeaseTable : public PieceLeases {
 public:
  LeaseTable() : LeaseTable(LeaseTableOptions{}) {}
  explicit LeaseTable(LeaseTableOptions options);

  using Held = HeldLease;

  // Leases nothing from this place on: no later epoch than `epoch`, and of
  // `epoch` only its first `pieces` in its order. A limit may only grow. At
  // first there is no limit.
  void SetLimit(uint32_t epoch, uint32_t pieces) {
    limit_ = Place{epoch, pieces};
    Tell(kEveryHost);
  }
  void SetLimit(uint32_t epoch) override { SetLimit(epoch, 0); }

  std::optional<Held> Take(Life owner, int host, uint64_t number,
                           absl::Time now) override;
  bool NothingToTake(absl::Time now) const override;
  // Copies that became due by time alone are left out.
  std::vector<int> TakeNews() override;
  bool has_hosts() const override { return !options_.hosts.empty(); }
  bool shared() const override { return true; }

  // Leases that settle are not renewed.
  void Renew(Life owner, absl::Time now) override;
  // Until Renew, the owner's leases may be copied at once.
  void Suspend(Life owner) override;
  void Progress(uint64_t lease, absl::Time now) override;
  void Done(uint64_t lease, Life owner, absl::Time now) override;
  // The owner does not get the piece again.
  std::optional<std::pair<uint32_t, uint32_t>> Failed(uint64_t lease,
                                                      Life owner) override;
  // The owner's leases end, except those that settle.
  void EndOwner(Life owner) override;
  void Expire(absl::Time now) override;
  // The leases of the piece are over, and it is leased no more. May be called
  // before the piece was ever leased.
  void Complete(uint32_t epoch, uint32_t piece) override;
  bool FailedOnAll(uint32_t epoch, uint32_t piece,
                   absl::Span<const Life> lives) const override;

  const Held* Find(uint64_t lease) const override;
  bool Holds(Life owner) const override;
  std::vector<Held> held() const override;

 private:
  // (epoch, place in its order): pieces are leased by growing place.
  using Place = std::pair<uint32_t, uint32_t>;
  using Key = std::pair<uint32_t, uint32_t>;  // epoch, piece
  struct Work {  // a piece that was leased and is not complete
    Place place;
    std::vector<uint64_t> leases;
    std::vector<Life> failed_on;
  };
  struct Leasable {
    Place place;
    uint32_t piece = 0;
    friend auto operator<=>(const Leasable&, const Leasable&) = default;
  };
  // Pieces that one group of workers can read: all workers, or those of one
  // host.
  struct Pool {
    // The pool's pieces before `next` (an index into Order::places) in the
    // order of `epoch` were leased or complete.
    uint32_t epoch = 0;
    size_t next = 0;
    // Pieces whose lease ended early: without a lease, and not complete.
    std::set<Leasable> free;
    // (CopiedAs, number) of leases that may be copied once CopiedAs is long
    // ago. Each is the only lease of its piece, and does not settle.
    std::set<std::pair<absl::Time, uint64_t>> single;
  };
  using Leases = absl::flat_hash_map<uint64_t, Held>;
  // Pieces of an epoch, a bit each.
  struct Bits {
    std::vector<bool> bits;
    uint32_t count = 0;
  };
  // The order of an epoch, made when its first piece is wanted.
  struct Order {
    std::vector<uint32_t> pieces;                 // by place
    std::map<int, std::vector<uint32_t>> places;  // by pool, growing
  };

  // There may be a new lease for the workers of this pool; see TakeNews.
  void Tell(int pool) {
    if (has_hosts()) news_.insert(pool);
  }
  int PoolOf(uint32_t piece) const {
    return options_.hosts.empty() ? 0 : options_.hosts[piece];
  }
  Key KeyOf(const Held& held) const { return {held.epoch, held.piece}; }
  // The time since which the lease counts as without progress, for copies.
  static absl::Time CopiedAs(const Held& held) {
    return held.suspended ? absl::InfinitePast() : held.progress;
  }
  void SetSuspended(Held* held, bool suspended);
  bool IsComplete(Key key) const;
  bool IsWhole(uint32_t epoch) const;  // all of its pieces are complete
  // True if a pool may begin this epoch: bounds how far a host may be ahead.
  bool MayBegin(uint32_t epoch) const;
  Order& OrderOf(uint32_t epoch);
  void BeginNextEpoch(Pool* pool);
  std::optional<Key> NextFree(Life owner, Pool* pool);
  // A piece that no worker has had; `readers` is the pool's key in pools_.
  std::optional<Key> NextNew(int readers, Pool* pool);
  std::optional<Key> NextCopy(Life owner, const Pool& pool,
                              absl::Time now) const;
  // Unlist takes the only lease of a piece out of Pool::single; List puts it
  // there.
  void Unlist(Key key, const Work& work);
  void List(Key key, const Work& work);
  void End(uint64_t lease);
  void Forget(Leases::iterator it);

  LeaseTableOptions options_;
  Place limit_;
  std::map<uint32_t, Order> orders_;   // orders of epochs that a pool is in
  std::map<uint32_t, Bits> complete_;  // by epoch with a complete piece
  uint32_t first_open_ = 0;            // the first epoch that is not whole
  std::map<int, Pool> pools_;
  std::set<int> news_;  // by host; see TakeNews
  absl::flat_hash_map<Key, Work> works_;
  Leases leases_;
  absl::flat_hash_map<Life, std::vector<uint64_t>> leases_of_;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_LEASE_TABLE_H_
