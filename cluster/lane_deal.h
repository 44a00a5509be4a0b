#ifndef SHOAL_CLUSTER_LANE_DEAL_H_
#define SHOAL_CLUSTER_LANE_DEAL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace shoal {

// The pieces of an epoch that are dealt to lanes.
struct PiecesToDeal {
  std::vector<uint32_t> order;  // all pieces of the epoch (piece_order.h)
  // By piece: true if its file cannot be cut, so that the piece is a whole file
  // and may be much larger than others. Empty: all files can be cut.
  std::vector<bool> uncut;
  // By piece: the only host that can read it, as LeaseTableOptions::hosts.
  // Empty: every host can read all pieces.
  std::vector<int> hosts;
};

// The batches of a piece that are trained in the epoch.
struct PieceTrained {
  // All batches are trained. `num_batches` has a value, `batches` is not used.
  bool complete = false;
  // Bit i % 8 of byte i / 8 is batch i, as Ledger::CompleteBatches.
  std::vector<uint8_t> batches;
  // Number of the piece's batches; nullopt: the piece was not read whole yet.
  std::optional<uint32_t> num_batches;
};

// A lane's part of a piece, which becomes one lease: the batches whose index
// mod `stride` is `offset`, without those that `skip` names and without those
// that are trained. A part without batches has the offset Lease::kNoBatch.
struct LanePart {
  uint32_t piece = 0;
  uint32_t stride = 1;
  uint32_t offset = 0;
  bool last = false;  // of its lane (Lease::last_of_lane)
  // Batches of other lanes, as Lease::skip. Only in a deal of what is left.
  std::vector<uint8_t> skip;

  friend bool operator==(const LanePart&, const LanePart&) = default;
};

// The deal of an epoch's batches to the ranks of a synchronous mode: for each
// rank its lane, the batches that the rank trains, in order. Step s of the job
// is the s-th batch of every lane. A pure function of what is dealt and of the
// ranks; neither time nor the order of requests changes it.
//
//   LaneDeal deal = *LaneDeal::OfEpoch(pieces, hosts_of_ranks);
//   while (const LanePart* part = deal.Take(rank)) ...  // lease it to the rank
//
// The rule, for P pieces that can be cut and N ranks: the first ⌊P/N⌋·N pieces,
// in the epoch's order, go to the lanes round by round, as whole pieces. Every
// other piece, and every file that cannot be cut, is dealt by batch: all lanes
// read it, and lane j trains the batches whose index mod N is j. A lane has its
// parts in the epoch's order. If pieces belong to hosts, the pieces of a host
// are dealt in this way to the ranks of that host.
//
// A deal of an epoch depends on no fact about the pieces' rows, since facts are
// learnt while the epoch is trained.
//
// Lanes may have different numbers of batches, and a part may have no batch. A
// lane to which nothing is dealt gets one part without batches, of a piece that
// its rank could read, and which it does not read: so each rank gets a last
// part, and can tell after it that its lane has ended. Then the rank adds
// nothing to the steps of the others.
//
// What this asks of the owner: the next epoch begins when every batch of this
// one is trained (epochs have a barrier); if all lanes have ended and batches
// are left, because they were dropped from their steps, Again deals them; no
// piece is leased to a second worker as a copy. Thread-compatible.
class LaneDeal {
 public:
  // No lanes.
  LaneDeal() = default;

  // The epoch's own deal. `ranks[j]` is the host of rank j, and matters only if
  // pieces belong to hosts. FAILED_PRECONDITION: a piece belongs to a host
  // without a rank, or a rank is on a host without a piece.
  // REQUIRES: ranks is not empty; `order` is a permutation of all pieces.
  static absl::StatusOr<LaneDeal> OfEpoch(const PiecesToDeal& pieces,
                                          absl::Span<const int> ranks);

  // A new deal of what is left of the epoch, after batches were dropped or the
  // ranks changed. `trained` is by piece. The rule is that of an epoch, for the
  // pieces that are not complete, those with fewer trained batches first, so
  // that the pieces of a round have about the same number of batches left. If a
  // piece that is dealt by batch was read whole, the batches that are left of
  // it go to the lanes in turn, and a lane without any of them does not read
  // the piece. Errors: as OfEpoch.
  static absl::StatusOr<LaneDeal> Again(const PiecesToDeal& pieces,
                                        absl::Span<const PieceTrained> trained,
                                        absl::Span<const int> ranks);

  // The deal of an epoch that a job goes on with. If the trained batches are
  // those of the first s steps of the epoch's own deal to these ranks, for some
  // s, it is this deal without its complete pieces: with the trained batches
  // skipped, the steps of the job are those of a job that never stopped.
  // Otherwise, which means that batches were dropped or that the ranks were
  // others, it is Again. Errors: as OfEpoch.
  static absl::StatusOr<LaneDeal> Resumed(
      const PiecesToDeal& pieces, absl::Span<const PieceTrained> trained,
      absl::Span<const int> ranks);

  size_t num_lanes() const { return lanes_.size(); }
  // All parts of a rank's lane. REQUIRES, here and below: rank < num_lanes().
  const std::vector<LanePart>& lane(size_t rank) const {
    return lanes_[rank].parts;
  }
  // The next part of the rank's lane, valid as long as the deal; nullptr if all
  // its parts were taken.
  const LanePart* Take(size_t rank);

 private:
  struct Lane {
    std::vector<LanePart> parts;
    size_t next = 0;  // index of the next part to take
  };

  // By rank. Sets LanePart::last.
  explicit LaneDeal(std::vector<std::vector<LanePart>> lanes);

  std::vector<Lane> lanes_;  // by rank
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_LANE_DEAL_H_
