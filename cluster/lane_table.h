#ifndef SHOAL_CLUSTER_LANE_TABLE_H_
#define SHOAL_CLUSTER_LANE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "cluster/lane_deal.h"
#include "cluster/lease_table.h"
#include "cluster/piece_leases.h"
#include "core/ids.h"
#include "core/lease.h"

namespace shoal {

// A rank of a synchronous mode.
struct LaneRank {
  Life life;
  int host = 0;  // as LeaseTableOptions::hosts; 0 if pieces have no hosts
};

struct LaneOptions {
  // The ranks, until Regroup. Empty: the job has no lanes.
  std::vector<LaneRank> ranks;
  // As PiecesToDeal::uncut.
  std::vector<bool> uncut;
};

// The leases of the lanes of a synchronous mode, for ranks that stay the same
// between two calls of Regroup. A rank gets the parts of its lane in their
// order (lane_deal.h), one lease for each part; the last lease says so
// (Lease::last_of_lane). No request of another rank, and no time, changes which
// batches a rank trains. Pure logic, thread-compatible.
//
//   lane:   open --its last lease is done, or it has no part--> ended
//   table:  to deal --Deal--> dealt --all lanes have ended--> ended
//     ended --the epoch is complete, or its batches are settled--> to deal
//     any --Regroup--> to deal
//
//   LaneTable table(leases, {.ranks = ranks});
//   if (table.NeedsDeal(epoch, settled)) Deal(epoch, trained);
//   table.Take(life, host, number, now);
//
// Epochs have a barrier: the next epoch is dealt when all lanes have ended and
// every batch of this epoch has its marks. If the lanes have ended and batches
// are left, because they were dropped from their steps, these are dealt again.
//
// No lease is a copy, none runs out, and the piece of a rank that fails or dies
// is not given to another rank: a failure ends the job, and after a death the
// owner regroups the ranks that are left, to which everything is dealt anew. A
// lease of a complete piece goes on until its rank says LeaseDone, since a lane
// has ended only when its rank has done with it.
class LaneTable : public PieceLeases {
 public:
  // Of `leases`, the times are ignored. REQUIRES: !lanes.ranks.empty().
  LaneTable(LeaseTableOptions leases, LaneOptions lanes);

  // True if all lanes have ended and there is something to deal: `epoch`, the
  // first that is not complete, is below the limit, and either is not dealt yet
  // or has batches left. `settled`: every batch of this job's steps has its
  // marks, so that a batch without a mark was dropped from its step.
  bool NeedsDeal(uint32_t epoch, bool settled) const;
  // Deals what is left of the epoch: as the epoch's own deal if it was not
  // dealt yet (LaneDeal::Resumed), otherwise again (LaneDeal::Again). `trained`
  // is by piece. Errors: those of LaneDeal::OfEpoch. REQUIRES: NeedsDeal.
  absl::Status Deal(uint32_t epoch, absl::Span<const PieceTrained> trained);

  // The ranks change: all leases are over, as if they had never been given, and
  // what is left of the epoch is to deal. It is dealt as to a job that goes on
  // (LaneDeal::Resumed), so the same ranks go on with the steps of the epoch's
  // own deal if none of its batches was dropped. The owner calls Deal only once
  // every mark of the ended leases is in the job's books: a batch of which a
  // mark is still to come would be dealt a second time. `ranks` may be empty;
  // then Deal must not be called before they are changed again.
  void Regroup(std::vector<LaneRank> ranks);

  // The ranks whose lane has not ended, ascending.
  std::vector<int> open_lanes() const;
  // All lanes have ended, or none was dealt yet.
  bool ended() const;

  // Adds to `lease` the lane part that the lease `number` is for: its batches,
  // and whether it is its lane's last. REQUIRES: the lease is held.
  void Shape(uint64_t number, Lease* lease) const;

  void SetLimit(uint32_t epoch) override { limit_ = epoch; }
  std::optional<HeldLease> Take(Life owner, int host, uint64_t number,
                                absl::Time now) override;
  bool NothingToTake(absl::Time now) const override;
  std::vector<int> TakeNews() override { return {}; }
  bool has_hosts() const override { return false; }
  bool shared() const override { return false; }
  void Renew(Life, absl::Time) override {}
  void Suspend(Life) override {}
  void Progress(uint64_t lease, absl::Time now) override;
  void Done(uint64_t lease, Life owner, absl::Time now) override;
  std::optional<std::pair<uint32_t, uint32_t>> Failed(uint64_t lease,
                                                      Life owner) override;
  void EndOwner(Life) override {}
  void Expire(absl::Time) override {}
  void Complete(uint32_t, uint32_t) override {}
  // A piece that failed on its rank fails: no other rank trains its lane.
  bool FailedOnAll(uint32_t, uint32_t, absl::Span<const Life>) const override {
    return true;
  }
  const HeldLease* Find(uint64_t lease) const override;
  bool Holds(Life owner) const override;
  std::vector<HeldLease> held() const override;

 private:
  struct Lane {
    size_t left = 0;  // parts that were not taken
    size_t held = 0;  // leases
    bool ended() const { return left == 0 && held == 0; }
  };
  struct HeldPart {
    HeldLease lease;
    LanePart part;
    size_t rank = 0;
  };

  std::optional<size_t> RankOf(Life life) const;

  LeaseTableOptions options_;
  LaneOptions lane_options_;
  uint32_t limit_;
  std::optional<uint32_t> epoch_;  // that was dealt last
  LaneDeal deal_;
  std::vector<Lane> lanes_;            // by rank
  std::map<uint64_t, HeldPart> held_;  // by number
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_LANE_TABLE_H_
