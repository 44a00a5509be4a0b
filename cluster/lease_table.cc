#include "cluster/lease_table.h"

#include <algorithm>

#include "cluster/piece_order.h"

namespace shoal {
namespace {

bool Contains(const std::vector<Life>& lives, Life life) {
  return std::find(lives.begin(), lives.end(), life) != lives.end();
}

}  // namespace

LeaseTable::LeaseTable(LeaseTableOptions options)
    : options_(std::move(options)), limit_{options_.num_epochs, 0} {}

const LeaseTable::Order& LeaseTable::OrderOf(uint32_t epoch) const {
  Order& order = orders_[epoch];
  if (order.piece_at.empty()) {
    order.piece_at = options_.shuffle ? ShuffledPieces(options_.seed, epoch,
                                                       options_.num_pieces)
                                      : ListedPieces(options_.num_pieces);
    order.place_of.resize(options_.num_pieces);
    for (uint32_t i = 0; i < options_.num_pieces; ++i) {
      order.place_of[order.piece_at[i]] = i;
    }
  }
  return order;
}

LeaseTable::Place LeaseTable::PlaceOf(uint32_t epoch, uint32_t piece) const {
  return {epoch, OrderOf(epoch).place_of[piece]};
}

std::map<LeaseTable::Place, LeaseTable::Work>::iterator LeaseTable::Choose(
    Life owner, int host, absl::Time now) {
  auto copy = works_.end();
  absl::Time oldest = absl::InfiniteFuture();
  for (auto it = works_.begin(); it != works_.end(); ++it) {
    const Work& work = it->second;
    if (!MayRead(host, work.piece) || Contains(work.failed_on, owner)) continue;
    if (work.leases.empty()) return it;
    if (work.leases.size() != 1) continue;
    const Held& held = leases_.at(work.leases[0]);
    if (!held.settling && held.owner != owner &&
        now - held.progress >= options_.speculate_after &&
        held.progress < oldest) {
      oldest = held.progress;
      copy = it;
    }
  }
  while (next_ < std::min(limit_, Place{options_.num_epochs, 0})) {
    if (next_.second == options_.num_pieces) {
      // What was passed over bounds how far one host may be ahead.
      if (!options_.hosts.empty() && !works_.empty() &&
          works_.begin()->first.first < next_.first) {
        return copy;
      }
      next_ = {next_.first + 1, 0};
      continue;
    }
    const Place place = next_;
    ++next_.second;
    if (early_.erase(place) != 0) continue;
    const uint32_t piece = OrderOf(place.first).piece_at[place.second];
    const auto work = works_.emplace(place, Work{piece}).first;
    if (MayRead(host, piece)) return work;
  }
  return copy;
}

std::optional<LeaseTable::Held> LeaseTable::Take(Life owner, int host,
                                                 uint64_t number,
                                                 absl::Time now) {
  const auto it = Choose(owner, host, now);
  if (it == works_.end()) return std::nullopt;
  Work& work = it->second;
  Held held;
  held.number = number;
  held.owner = owner;
  held.epoch = it->first.first;
  held.piece = work.piece;
  held.copy = !work.leases.empty();
  held.until = now + options_.lease_time;
  held.progress = now;
  work.leases.push_back(number);
  leases_[number] = held;
  return held;
}

void LeaseTable::Renew(Life owner, absl::Time now) {
  for (auto& [number, held] : leases_) {
    if (held.owner == owner && !held.settling) {
      held.until = now + options_.lease_time;
    }
  }
}

void LeaseTable::Progress(uint64_t lease, absl::Time now) {
  const auto it = leases_.find(lease);
  if (it != leases_.end()) it->second.progress = now;
}

void LeaseTable::End(uint64_t lease) {
  const auto it = leases_.find(lease);
  Work& work = works_.at(PlaceOf(it->second.epoch, it->second.piece));
  work.leases.erase(std::find(work.leases.begin(), work.leases.end(), lease));
  leases_.erase(it);
}

void LeaseTable::Done(uint64_t lease, Life owner, absl::Time now) {
  const auto it = leases_.find(lease);
  if (it == leases_.end() || it->second.owner != owner || it->second.settling) {
    return;
  }
  it->second.settling = true;
  it->second.until = now + options_.lease_time;
}

std::optional<std::pair<uint32_t, uint32_t>> LeaseTable::Failed(uint64_t lease,
                                                                Life owner) {
  const Held* held = Find(lease);
  if (held == nullptr || held->owner != owner) return std::nullopt;
  const std::pair<uint32_t, uint32_t> piece{held->epoch, held->piece};
  works_.at(PlaceOf(held->epoch, held->piece)).failed_on.push_back(owner);
  End(lease);
  return piece;
}

void LeaseTable::EndOwner(Life owner) {
  for (const Held& held : this->held()) {
    if (held.owner == owner && !held.settling) End(held.number);
  }
}

void LeaseTable::Expire(absl::Time now) {
  for (const Held& held : this->held()) {
    if (held.until <= now) End(held.number);
  }
}

void LeaseTable::Complete(uint32_t epoch, uint32_t piece) {
  const Place place = PlaceOf(epoch, piece);
  const auto it = works_.find(place);
  if (it != works_.end()) {
    for (const uint64_t lease : it->second.leases) leases_.erase(lease);
    works_.erase(it);
  } else if (place >= next_) {
    early_.insert(place);
  }
}

void LeaseTable::Reopen(uint32_t epoch, uint32_t piece) {
  const Place place = PlaceOf(epoch, piece);
  if (place >= next_) {
    early_.erase(place);
  } else {
    works_.emplace(place, Work{piece});
  }
}

bool LeaseTable::FailedOnAll(uint32_t epoch, uint32_t piece,
                             absl::Span<const Life> lives) const {
  const auto it = works_.find(PlaceOf(epoch, piece));
  if (it == works_.end()) return false;
  return std::all_of(lives.begin(), lives.end(), [&](Life life) {
    return Contains(it->second.failed_on, life);
  });
}

const LeaseTable::Held* LeaseTable::Find(uint64_t lease) const {
  const auto it = leases_.find(lease);
  return it == leases_.end() ? nullptr : &it->second;
}

std::vector<LeaseTable::Held> LeaseTable::held() const {
  std::vector<Held> all;
  for (const auto& [number, held] : leases_) all.push_back(held);
  return all;
}

}  // namespace shoal
