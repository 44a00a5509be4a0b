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
// piece is leased until it is complete; a lease that ends before (its owner's
// life is over, its time ran out, its reader failed) makes it leasable again,
// before any piece that was never leased. LeaseDone only says that the marks
// are on their way: the lease *settles*, and its piece is leased to no other
// worker, until the piece is complete or the lease's time runs out. The end of
// the owner's life does not end such a lease. A piece has at most two leases at
// a time: the second is a speculative copy. Where pieces belong to hosts, one
// host may be an epoch ahead of the others.
//
// Every call takes time by what it changes, not by what the table holds, but
// for those that say otherwise.
class LeaseTable {
 public:
  LeaseTable() : LeaseTable(LeaseTableOptions{}) {}
  explicit LeaseTable(LeaseTableOptions options);

  struct Held {
    uint64_t number = 0;
    Life owner;
    uint32_t epoch = 0;
    uint32_t piece = 0;
    bool copy = false;       // speculative: to be worked on from the end
    bool settling = false;   // its owner said LeaseDone
    bool suspended = false;  // its owner's session is broken
    absl::Time until;
    absl::Time progress;  // its newest mark, or its grant
  };

  // Nothing from this place on is leased from now on: epochs from `epoch` on,
  // and of that one itself all but its first `pieces`, in its order. A limit
  // may only grow. At first there is none.
  void SetLimit(uint32_t epoch, uint32_t pieces = 0) {
    limit_ = Place{epoch, pieces};
    Tell(kEveryHost);
  }

  // The next lease for `owner` on `host`, to be known as `number` (growing,
  // never used before); nullopt if there is none for it now.
  std::optional<Held> Take(Life owner, int host, uint64_t number,
                           absl::Time now);
  // There is no lease now for any worker. False: there may be one.
  bool NothingToTake(absl::Time now) const;
  // Where pieces belong to hosts: the hosts for which there may be a lease now
  // that was not there before the last call, each once; kEveryHost means all.
  // A copy that became due by the time alone is not among them.
  static constexpr int kEveryHost = -1;
  std::vector<int> TakeNews();
  bool has_hosts() const { return !options_.hosts.empty(); }

  // The owner is alive: its leases run on, except those that settle.
  void Renew(Life owner, absl::Time now);
  // It is not known whether the owner is alive: until Renew, its leases may be
  // copied at once.
  void Suspend(Life owner);
  // A batch that was computed under the lease got a new mark.
  void Progress(uint64_t lease, absl::Time now);

  // LeaseDone and LeaseFailed of `owner`. A lease that is not the owner's, or
  // is over, is ignored: late words are normal. Failed returns (epoch, piece)
  // of the failed lease; that owner does not get the piece again.
  void Done(uint64_t lease, Life owner, absl::Time now);
  std::optional<std::pair<uint32_t, uint32_t>> Failed(uint64_t lease,
                                                      Life owner);
  // The owner's life is over: its leases end, except those that settle.
  void EndOwner(Life owner);
  // Ends the leases whose time has run out. Looks at all of them.
  void Expire(absl::Time now);

  // Every batch of the piece is done: it is leased no more, its leases are
  // over. May come before the piece was ever leased.
  void Complete(uint32_t epoch, uint32_t piece);

  // The piece failed on each of these lives.
  bool FailedOnAll(uint32_t epoch, uint32_t piece,
                   absl::Span<const Life> lives) const;

  // nullptr if the lease is over.
  const Held* Find(uint64_t lease) const;
  std::vector<Held> held() const;  // by number; a copy of all

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
    // Those of this pool in `epoch`'s order before `next` (an index into
    // Order::places) were leased, or were complete.
    uint32_t epoch = 0;
    size_t next = 0;
    // Returned: of these none has a lease or is complete.
    std::set<Leasable> free;
    // (CopiedAs, number) of leases that may be copied once that is long ago:
    // each the only lease of its piece, and not settling.
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

  // There is something new for these workers; see TakeNews.
  void Tell(int pool) {
    if (has_hosts()) news_.insert(pool);
  }
  int PoolOf(uint32_t piece) const {
    return options_.hosts.empty() ? 0 : options_.hosts[piece];
  }
  Key KeyOf(const Held& held) const { return {held.epoch, held.piece}; }
  // Since when the lease is without progress, as far as copies are concerned.
  static absl::Time CopiedAs(const Held& held) {
    return held.suspended ? absl::InfinitePast() : held.progress;
  }
  void SetSuspended(Held* held, bool suspended);
  bool IsComplete(Key key) const;
  bool IsWhole(uint32_t epoch) const;  // all of its pieces are complete
  // The next epoch may be begun: bounds how far one host may be ahead.
  bool MayBegin(uint32_t epoch) const;
  Order& OrderOf(uint32_t epoch);
  void BeginNextEpoch(Pool* pool);
  std::optional<Key> NextFree(Life owner, Pool* pool);
  // A piece that no worker has had; `readers` is the pool's key in pools_.
  std::optional<Key> NextNew(int readers, Pool* pool);
  std::optional<Key> NextCopy(Life owner, const Pool& pool,
                              absl::Time now) const;
  // Takes a piece's only lease out of Pool::single; puts it there.
  void Unlist(Key key, const Work& work);
  void List(Key key, const Work& work);
  void End(uint64_t lease);
  void Forget(Leases::iterator it);

  LeaseTableOptions options_;
  Place limit_;
  std::map<uint32_t, Order> orders_;   // of epochs that a pool is in
  std::map<uint32_t, Bits> complete_;  // of epochs with a complete piece
  uint32_t first_open_ = 0;            // the first epoch that is not whole
  std::map<int, Pool> pools_;
  std::set<int> news_;  // by host; see TakeNews
  absl::flat_hash_map<Key, Work> works_;
  Leases leases_;
  absl::flat_hash_map<Life, std::vector<uint64_t>> leases_of_;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_LEASE_TABLE_H_
