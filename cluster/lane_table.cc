#include "cluster/lane_table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/status_macros.h"
#include "cluster/piece_order.h"

namespace shoal {

LaneTable::LaneTable(LeaseTableOptions leases, LaneOptions lanes)
    : options_(std::move(leases)),
      lane_options_(std::move(lanes)),
      limit_(options_.num_epochs),
      lanes_(lane_options_.ranks.size()) {
  SHOAL_DCHECK(!lane_options_.ranks.empty());
}

bool LaneTable::NeedsDeal(uint32_t epoch, bool settled) const {
  if (!ended() || epoch >= std::min(limit_, options_.num_epochs)) return false;
  return epoch_ != epoch || settled;
}

absl::Status LaneTable::Deal(uint32_t epoch,
                             absl::Span<const PieceTrained> trained) {
  SHOAL_DCHECK(ended() && !lanes_.empty());
  SHOAL_DCHECK(trained.size() == options_.num_pieces);
  PiecesToDeal pieces;
  pieces.order = options_.shuffle
                     ? ShuffledPieces(options_.seed, epoch, options_.num_pieces)
                     : ListedPieces(options_.num_pieces);
  pieces.uncut = lane_options_.uncut;
  pieces.hosts = options_.hosts;
  std::vector<int> hosts;
  for (const LaneRank& rank : lane_options_.ranks) hosts.push_back(rank.host);
  SHOAL_ASSIGN_OR_RETURN(deal_,
                         epoch_ == epoch
                             ? LaneDeal::Again(pieces, trained, hosts)
                             : LaneDeal::Resumed(pieces, trained, hosts));
  epoch_ = epoch;
  for (size_t rank = 0; rank < lanes_.size(); ++rank) {
    lanes_[rank].left = deal_.lane(rank).size();
  }
  return absl::OkStatus();
}

void LaneTable::Regroup(std::vector<LaneRank> ranks) {
  lane_options_.ranks = std::move(ranks);
  held_.clear();
  deal_ = LaneDeal();
  lanes_.assign(lane_options_.ranks.size(), Lane());
  epoch_.reset();
}

std::vector<int> LaneTable::open_lanes() const {
  std::vector<int> open;
  for (size_t rank = 0; rank < lanes_.size(); ++rank) {
    if (!lanes_[rank].ended()) open.push_back(static_cast<int>(rank));
  }
  return open;
}

bool LaneTable::ended() const {
  return std::all_of(lanes_.begin(), lanes_.end(),
                     [](const Lane& lane) { return lane.ended(); });
}

void LaneTable::Shape(uint64_t number, Lease* lease) const {
  const LanePart& part = held_.at(number).part;
  lease->stride = part.stride;
  lease->offset = part.offset;
  lease->last_of_lane = part.last;
  if (lease->skip.size() < part.skip.size()) {
    lease->skip.resize(part.skip.size());
  }
  for (size_t i = 0; i < part.skip.size(); ++i) lease->skip[i] |= part.skip[i];
}

std::optional<size_t> LaneTable::RankOf(Life life) const {
  const std::vector<LaneRank>& ranks = lane_options_.ranks;
  const auto it = std::find_if(
      ranks.begin(), ranks.end(),
      [&](const LaneRank& rank) { return rank.life == life; });
  if (it == ranks.end()) return std::nullopt;
  return static_cast<size_t>(it - ranks.begin());
}

std::optional<HeldLease> LaneTable::Take(Life owner, int, uint64_t number,
                                         absl::Time now) {
  const std::optional<size_t> rank = RankOf(owner);
  if (!rank.has_value() || lanes_[*rank].left == 0) return std::nullopt;
  HeldPart taken;
  taken.part = *deal_.Take(*rank);
  taken.rank = *rank;
  taken.lease.number = number;
  taken.lease.owner = owner;
  taken.lease.epoch = *epoch_;
  taken.lease.piece = taken.part.piece;
  taken.lease.until = absl::InfiniteFuture();
  taken.lease.progress = now;
  --lanes_[*rank].left;
  ++lanes_[*rank].held;
  return held_.insert_or_assign(number, std::move(taken)).first->second.lease;
}

bool LaneTable::NothingToTake(absl::Time) const {
  return std::all_of(lanes_.begin(), lanes_.end(),
                     [](const Lane& lane) { return lane.left == 0; });
}

void LaneTable::Progress(uint64_t lease, absl::Time now) {
  const auto it = held_.find(lease);
  if (it != held_.end()) it->second.lease.progress = now;
}

void LaneTable::Done(uint64_t lease, Life owner, absl::Time) {
  const auto it = held_.find(lease);
  if (it == held_.end() || it->second.lease.owner != owner) return;
  --lanes_[it->second.rank].held;
  held_.erase(it);
}

std::optional<std::pair<uint32_t, uint32_t>> LaneTable::Failed(uint64_t lease,
                                                               Life owner) {
  const HeldLease* held = Find(lease);
  if (held == nullptr || held->owner != owner) return std::nullopt;
  return std::pair{held->epoch, held->piece};
}

const HeldLease* LaneTable::Find(uint64_t lease) const {
  const auto it = held_.find(lease);
  return it == held_.end() ? nullptr : &it->second.lease;
}

bool LaneTable::Holds(Life owner) const {
  return std::any_of(held_.begin(), held_.end(), [&](const auto& held) {
    return held.second.lease.owner == owner;
  });
}

std::vector<HeldLease> LaneTable::held() const {
  std::vector<HeldLease> all;
  for (const auto& [number, part] : held_) all.push_back(part.lease);
  return all;
}

}  // namespace shoal
