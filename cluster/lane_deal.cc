#include "cluster/lane_deal.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "cluster/batch_bits.h"
#include "core/lease.h"

namespace shoal {
namespace {

using Lanes = std::vector<std::vector<LanePart>>;  // by rank

// Pieces, in the order in which they are dealt, and the ranks that can read
// them.
struct Group {
  std::vector<uint32_t> pieces;
  std::vector<size_t> ranks;
};

// All pieces.
absl::StatusOr<std::map<int, Group>> ByHost(const PiecesToDeal& pieces,
                                            absl::Span<const int> ranks) {
  const bool hosts = !pieces.hosts.empty();
  std::map<int, Group> groups;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    groups[hosts ? ranks[rank] : 0].ranks.push_back(rank);
  }
  for (const uint32_t piece : pieces.order) {
    const auto it = groups.find(hosts ? pieces.hosts[piece] : 0);
    if (it == groups.end()) {
      return absl::FailedPreconditionError(
          absl::StrCat("piece ", piece, " can be read on host ",
                       pieces.hosts[piece], " alone, which has no rank"));
    }
    it->second.pieces.push_back(piece);
  }
  for (const auto& [host, group] : groups) {
    if (!group.pieces.empty() || pieces.order.empty()) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "host ", host, ", which has rank ", group.ranks.front(),
        ", has no data of its own; give it files, or start no worker there"));
  }
  return groups;
}

// Deals the pieces of one group.
class GroupDealer {
 public:
  // `trained` is by piece; empty: nothing is known of the pieces.
  GroupDealer(const std::vector<size_t>& ranks,
              absl::Span<const PieceTrained> trained, Lanes* lanes)
      : ranks_(ranks), trained_(trained), lanes_(*lanes) {}

  void Deal(const std::vector<uint32_t>& pieces,
            const std::vector<bool>& uncut) {
    const auto can_be_cut = [&](uint32_t piece) {
      return uncut.empty() || !uncut[piece];
    };
    const size_t n = ranks_.size();
    const auto dealable = static_cast<size_t>(
        std::count_if(pieces.begin(), pieces.end(), can_be_cut));
    const size_t whole = dealable / n * n;
    size_t dealt = 0;
    for (const uint32_t piece : pieces) {
      if (dealt < whole && can_be_cut(piece)) {
        lanes_[ranks_[dealt++ % n]].push_back({.piece = piece});
      } else if (!trained_.empty() && trained_[piece].num_batches.has_value()) {
        DealLeft(piece);
      } else {
        DealByIndex(piece);
      }
    }
  }

 private:
  void DealByIndex(uint32_t piece) {
    const auto stride = static_cast<uint32_t>(ranks_.size());
    for (uint32_t j = 0; j < stride; ++j) {
      lanes_[ranks_[j]].push_back(
          {.piece = piece, .stride = stride, .offset = j});
    }
  }

  // The batches that are left of a piece that was read whole.
  void DealLeft(uint32_t piece) {
    const PieceTrained& trained = trained_[piece];
    std::vector<uint32_t> left;
    for (uint32_t i = 0; i < *trained.num_batches; ++i) {
      if (!BatchBits::Has(trained.batches, i)) left.push_back(i);
    }
    const size_t n = ranks_.size();
    for (size_t j = 0; j < std::min(n, left.size()); ++j) {
      BatchBits skip;
      for (uint32_t i = 0; i < *trained.num_batches; ++i) skip.Set(i);
      for (size_t i = j; i < left.size(); i += n) skip.Clear(left[i]);
      lanes_[ranks_[(turn_ + j) % n]].push_back(
          {.piece = piece, .skip = skip.bytes()});
    }
    turn_ = (turn_ + left.size()) % n;
  }

  const std::vector<size_t>& ranks_;
  const absl::Span<const PieceTrained> trained_;
  Lanes& lanes_;
  size_t turn_ = 0;  // the lane of the next batch that is left
};

// What is trained of a lane.
struct LanePrefix {
  uint64_t steps = 0;   // trained batches before the first that is not
  bool ended = true;    // no batch is left, as far as the lane is known
  bool holes = false;   // a batch after the first untrained one is trained
};

LanePrefix PrefixOf(const std::vector<LanePart>& lane,
                    absl::Span<const PieceTrained> trained) {
  LanePrefix prefix;
  for (const LanePart& part : lane) {
    const PieceTrained& piece = trained[part.piece];
    const bool known = piece.num_batches.has_value();
    const uint64_t end = known ? *piece.num_batches : 8 * piece.batches.size();
    for (uint64_t i = part.offset; i < end; i += part.stride) {
      if (!piece.complete &&
          !BatchBits::Has(piece.batches, static_cast<uint32_t>(i))) {
        prefix.ended = false;
      } else if (prefix.ended) {
        ++prefix.steps;
      } else {
        prefix.holes = true;
        return prefix;
      }
    }
    if (!known) prefix.ended = false;  // there may be more batches
  }
  return prefix;
}

// True if the trained batches are those of the first s steps, for some s.
bool AtStepBorder(const LaneDeal& deal,
                  absl::Span<const PieceTrained> trained) {
  std::vector<LanePrefix> lanes;
  uint64_t steps = 0;
  for (size_t rank = 0; rank < deal.num_lanes(); ++rank) {
    lanes.push_back(PrefixOf(deal.lane(rank), trained));
    steps = std::max(steps, lanes.back().steps);
  }
  return std::all_of(lanes.begin(), lanes.end(), [&](const LanePrefix& lane) {
    return !lane.holes && (lane.ended || lane.steps == steps);
  });
}

// Gives each lane without parts one without batches, of the first piece of its
// group, unless nothing is dealt at all.
void EndEmptyLanes(const std::map<int, Group>& groups, Lanes* lanes) {
  if (std::all_of(lanes->begin(), lanes->end(),
                  [](const auto& lane) { return lane.empty(); })) {
    return;
  }
  for (const auto& [host, group] : groups) {
    for (const size_t rank : group.ranks) {
      std::vector<LanePart>& lane = (*lanes)[rank];
      if (!lane.empty()) continue;
      lane.push_back({.piece = group.pieces.front(),
                      .stride = Lease::kNoBatch + 1,
                      .offset = Lease::kNoBatch});
    }
  }
}

// Deals the pieces that `dealt` has, in its order.
absl::StatusOr<Lanes> Deal(const PiecesToDeal& pieces,
                           const std::vector<uint32_t>& dealt,
                           absl::Span<const PieceTrained> trained,
                           absl::Span<const int> ranks) {
  SHOAL_DCHECK(!ranks.empty());
  SHOAL_ASSIGN_OR_RETURN(const auto groups, ByHost(pieces, ranks));
  Lanes lanes(ranks.size());
  for (const auto& [host, group] : groups) {
    std::vector<uint32_t> own;
    for (const uint32_t piece : dealt) {
      if (pieces.hosts.empty() || pieces.hosts[piece] == host) {
        own.push_back(piece);
      }
    }
    GroupDealer(group.ranks, trained, &lanes).Deal(own, pieces.uncut);
  }
  EndEmptyLanes(groups, &lanes);
  return lanes;
}

}  // namespace

LaneDeal::LaneDeal(std::vector<std::vector<LanePart>> lanes)
    : lanes_(lanes.size()) {
  for (size_t rank = 0; rank < lanes.size(); ++rank) {
    lanes_[rank].parts = std::move(lanes[rank]);
    for (LanePart& part : lanes_[rank].parts) part.last = false;
    if (lanes_[rank].parts.empty()) continue;
    lanes_[rank].parts.back().last = true;
  }
}

absl::StatusOr<LaneDeal> LaneDeal::OfEpoch(const PiecesToDeal& pieces,
                                           absl::Span<const int> ranks) {
  SHOAL_ASSIGN_OR_RETURN(Lanes lanes, Deal(pieces, pieces.order, {}, ranks));
  return LaneDeal(std::move(lanes));
}

absl::StatusOr<LaneDeal> LaneDeal::Again(
    const PiecesToDeal& pieces, absl::Span<const PieceTrained> trained,
    absl::Span<const int> ranks) {
  std::vector<std::pair<uint32_t, uint32_t>> left;  // trained batches, piece
  for (const uint32_t piece : pieces.order) {
    if (trained[piece].complete) continue;
    left.push_back({BatchBits::Count(trained[piece].batches), piece});
  }
  std::stable_sort(left.begin(), left.end(), [](const auto& a, const auto& b) {
    return a.first < b.first;
  });
  std::vector<uint32_t> order;
  for (const auto& [count, piece] : left) order.push_back(piece);
  SHOAL_ASSIGN_OR_RETURN(Lanes lanes, Deal(pieces, order, trained, ranks));
  return LaneDeal(std::move(lanes));
}

absl::StatusOr<LaneDeal> LaneDeal::Resumed(
    const PiecesToDeal& pieces, absl::Span<const PieceTrained> trained,
    absl::Span<const int> ranks) {
  SHOAL_ASSIGN_OR_RETURN(const LaneDeal own, OfEpoch(pieces, ranks));
  if (!AtStepBorder(own, trained)) return Again(pieces, trained, ranks);
  Lanes left(ranks.size());
  for (size_t rank = 0; rank < own.num_lanes(); ++rank) {
    for (const LanePart& part : own.lane(rank)) {
      if (!trained[part.piece].complete) left[rank].push_back(part);
    }
  }
  SHOAL_ASSIGN_OR_RETURN(const auto groups, ByHost(pieces, ranks));
  EndEmptyLanes(groups, &left);
  return LaneDeal(std::move(left));
}

const LanePart* LaneDeal::Take(size_t rank) {
  SHOAL_DCHECK(rank < lanes_.size());
  Lane& lane = lanes_[rank];
  return lane.next == lane.parts.size() ? nullptr : &lane.parts[lane.next++];
}

}  // namespace shoal
