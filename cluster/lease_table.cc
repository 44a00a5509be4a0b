#include "cluster/lease_table.h"

#include <algorithm>
#include <utility>

#include "cluster/piece_order.h"

namespace shoal {
namespace {

bool Contains(const std::vector<Life>& lives, Life life) {
  return std::find(lives.begin(), lives.end(), life) != lives.end();
}

}  // namespace

LeaseTable::LeaseTable(LeaseTableOptions options)
    : options_(std::move(options)), limit_{options_.num_epochs, 0} {
  Tell(kEveryHost);
  if (options_.hosts.empty()) pools_.try_emplace(0);
  int last = kEveryHost;
  for (const int host : options_.hosts) {
    if (std::exchange(last, host) != host) pools_.try_emplace(host);
  }
}

bool LeaseTable::IsComplete(Key key) const {
  const auto it = complete_.find(key.first);
  return it != complete_.end() && it->second.bits[key.second];
}

bool LeaseTable::IsWhole(uint32_t epoch) const {
  const auto it = complete_.find(epoch);
  return it != complete_.end() && it->second.count == options_.num_pieces;
}

bool LeaseTable::MayBegin(uint32_t epoch) const {
  return !has_hosts() || first_open_ + 1 >= epoch;
}

LeaseTable::Order& LeaseTable::OrderOf(uint32_t epoch) {
  const auto [it, added] = orders_.try_emplace(epoch);
  Order& order = it->second;
  if (!added) return order;
  order.pieces = options_.shuffle
                     ? ShuffledPieces(options_.seed, epoch, options_.num_pieces)
                     : ListedPieces(options_.num_pieces);
  for (uint32_t place = 0; place < options_.num_pieces; ++place) {
    order.places[PoolOf(order.pieces[place])].push_back(place);
  }
  return order;
}

void LeaseTable::BeginNextEpoch(Pool* pool) {
  ++pool->epoch;
  pool->next = 0;
  uint32_t first = options_.num_epochs;
  for (const auto& [readers, other] : pools_) {
    first = std::min(first, other.epoch);
  }
  orders_.erase(orders_.begin(), orders_.lower_bound(first));
}

std::optional<LeaseTable::Key> LeaseTable::NextFree(Life owner, Pool* pool) {
  for (auto it = pool->free.begin(); it != pool->free.end(); ++it) {
    const Key key{it->place.first, it->piece};
    if (Contains(works_.at(key).failed_on, owner)) continue;
    pool->free.erase(it);
    return key;
  }
  return std::nullopt;
}

std::optional<LeaseTable::Key> LeaseTable::NextNew(int readers, Pool* pool) {
  while (pool->epoch < options_.num_epochs && Place{pool->epoch, 0} < limit_) {
    const uint32_t epoch = pool->epoch;
    const bool skip = pool->next == 0 && IsWhole(epoch);
    Order* order = skip ? nullptr : &OrderOf(epoch);
    if (skip || pool->next == order->places[readers].size()) {
      if (!MayBegin(epoch + 1)) return std::nullopt;
      BeginNextEpoch(pool);
      continue;
    }
    const Place place{epoch, order->places[readers][pool->next]};
    if (limit_ <= place) return std::nullopt;
    const Key key{epoch, order->pieces[place.second]};
    ++pool->next;
    if (IsComplete(key)) continue;
    works_[key].place = place;
    return key;
  }
  return std::nullopt;
}

std::optional<LeaseTable::Key> LeaseTable::NextCopy(Life owner,
                                                    const Pool& pool,
                                                    absl::Time now) const {
  for (const auto& [progress, number] : pool.single) {
    if (now - progress < options_.speculate_after) break;
    const Held& held = leases_.at(number);
    if (held.owner == owner) continue;
    const Key key = KeyOf(held);
    if (!Contains(works_.at(key).failed_on, owner)) return key;
  }
  return std::nullopt;
}

std::optional<LeaseTable::Held> LeaseTable::Take(Life owner, int host,
                                                 uint64_t number,
                                                 absl::Time now) {
  const int readers = options_.hosts.empty() ? 0 : host;
  const auto found = pools_.find(readers);
  if (found == pools_.end()) return std::nullopt;  // it has no piece
  Pool& pool = found->second;
  std::optional<Key> key = NextFree(owner, &pool);
  if (!key.has_value()) key = NextNew(readers, &pool);
  if (!key.has_value()) key = NextCopy(owner, pool, now);
  if (!key.has_value()) return std::nullopt;
  Work& work = works_.at(*key);
  Held held;
  held.number = number;
  held.owner = owner;
  held.epoch = key->first;
  held.piece = key->second;
  held.copy = !work.leases.empty();
  held.until = now + options_.lease_time;
  held.progress = now;
  Unlist(*key, work);
  work.leases.push_back(number);
  leases_[number] = held;
  leases_of_[owner].push_back(number);
  List(*key, work);
  return held;
}

bool LeaseTable::NothingToTake(absl::Time now) const {
  if (has_hosts()) return false;
  const Pool& pool = pools_.at(0);
  // Where there is one pool, its places are the order's.
  const Place next{pool.epoch, static_cast<uint32_t>(pool.next)};
  if (next < std::min(limit_, Place{options_.num_epochs, 0})) return false;
  return pool.free.empty() &&
         (pool.single.empty() ||
          now - pool.single.begin()->first < options_.speculate_after);
}

std::vector<int> LeaseTable::TakeNews() {
  std::vector<int> news(news_.begin(), news_.end());
  news_.clear();
  return news;
}

void LeaseTable::Unlist(Key key, const Work& work) {
  if (work.leases.size() != 1) return;
  const Held& held = leases_.at(work.leases[0]);
  pools_[PoolOf(key.second)].single.erase({CopiedAs(held), held.number});
}

void LeaseTable::List(Key key, const Work& work) {
  if (work.leases.size() != 1) return;
  const Held& held = leases_.at(work.leases[0]);
  if (held.settling) return;
  pools_[PoolOf(key.second)].single.insert({CopiedAs(held), held.number});
}

void LeaseTable::SetSuspended(Held* held, bool suspended) {
  const Key key = KeyOf(*held);
  Unlist(key, works_.at(key));
  held->suspended = suspended;
  List(key, works_.at(key));
}

void LeaseTable::Renew(Life owner, absl::Time now) {
  const auto it = leases_of_.find(owner);
  if (it == leases_of_.end()) return;
  for (const uint64_t number : it->second) {
    Held& held = leases_.at(number);
    if (held.suspended) SetSuspended(&held, false);
    if (!held.settling) held.until = now + options_.lease_time;
  }
}

void LeaseTable::Suspend(Life owner) {
  const auto it = leases_of_.find(owner);
  if (it == leases_of_.end()) return;
  for (const uint64_t number : it->second) {
    SetSuspended(&leases_.at(number), true);
  }
}

void LeaseTable::Progress(uint64_t lease, absl::Time now) {
  const auto it = leases_.find(lease);
  if (it == leases_.end() || it->second.progress == now) return;
  const Key key = KeyOf(it->second);
  const Work& work = works_.at(key);
  Unlist(key, work);
  it->second.progress = now;
  List(key, work);
}

void LeaseTable::End(uint64_t lease) {
  const auto it = leases_.find(lease);
  const Key key = KeyOf(it->second);
  Work& work = works_.at(key);
  Unlist(key, work);
  work.leases.erase(std::find(work.leases.begin(), work.leases.end(), lease));
  Forget(it);
  List(key, work);
  if (work.leases.empty()) {
    pools_[PoolOf(key.second)].free.insert({work.place, key.second});
    Tell(PoolOf(key.second));
  }
}

void LeaseTable::Forget(Leases::iterator it) {
  const auto of = leases_of_.find(it->second.owner);
  std::vector<uint64_t>& numbers = of->second;
  numbers.erase(std::find(numbers.begin(), numbers.end(), it->first));
  if (numbers.empty()) leases_of_.erase(of);
  leases_.erase(it);
}

void LeaseTable::Done(uint64_t lease, Life owner, absl::Time now) {
  const auto it = leases_.find(lease);
  if (it == leases_.end() || it->second.owner != owner || it->second.settling) {
    return;
  }
  const Key key = KeyOf(it->second);
  Unlist(key, works_.at(key));
  it->second.settling = true;
  it->second.until = now + options_.lease_time;
}

std::optional<std::pair<uint32_t, uint32_t>> LeaseTable::Failed(uint64_t lease,
                                                                Life owner) {
  const Held* held = Find(lease);
  if (held == nullptr || held->owner != owner) return std::nullopt;
  const Key piece = KeyOf(*held);
  works_.at(piece).failed_on.push_back(owner);
  End(lease);
  return piece;
}

void LeaseTable::EndOwner(Life owner) {
  const auto it = leases_of_.find(owner);
  if (it == leases_of_.end()) return;
  for (const uint64_t number : std::vector<uint64_t>(it->second)) {
    if (!leases_.at(number).settling) End(number);
  }
}

void LeaseTable::Expire(absl::Time now) {
  std::vector<uint64_t> over;
  for (const auto& [number, held] : leases_) {
    if (held.until <= now) over.push_back(number);
  }
  std::sort(over.begin(), over.end());
  for (const uint64_t number : over) End(number);
}

void LeaseTable::Complete(uint32_t epoch, uint32_t piece) {
  const Key key{epoch, piece};
  if (IsComplete(key)) return;
  Bits& complete = complete_[epoch];
  complete.bits.resize(options_.num_pieces);
  complete.bits[piece] = true;
  ++complete.count;
  if (IsWhole(first_open_)) {
    while (IsWhole(first_open_)) ++first_open_;
    Tell(kEveryHost);  // the next epoch may be begun
  }
  const auto it = works_.find(key);
  if (it == works_.end()) return;
  const Work& work = it->second;
  Unlist(key, work);
  if (work.leases.empty()) {
    pools_[PoolOf(piece)].free.erase({work.place, piece});
  }
  for (const uint64_t lease : work.leases) Forget(leases_.find(lease));
  works_.erase(it);
}

bool LeaseTable::FailedOnAll(uint32_t epoch, uint32_t piece,
                             absl::Span<const Life> lives) const {
  const auto it = works_.find({epoch, piece});
  if (it == works_.end()) return false;
  return std::all_of(lives.begin(), lives.end(), [&](Life life) {
    return Contains(it->second.failed_on, life);
  });
}

const LeaseTable::Held* LeaseTable::Find(uint64_t lease) const {
  const auto it = leases_.find(lease);
  return it == leases_.end() ? nullptr : &it->second;
}

bool LeaseTable::Holds(Life owner) const {
  const auto it = leases_of_.find(owner);
  return it != leases_of_.end() &&
         std::any_of(it->second.begin(), it->second.end(),
                     [this](uint64_t number) {
                       return !leases_.at(number).settling;
                     });
}

std::vector<LeaseTable::Held> LeaseTable::held() const {
  std::vector<Held> all;
  all.reserve(leases_.size());
  for (const auto& [number, held] : leases_) all.push_back(held);
  std::sort(all.begin(), all.end(),
            [](const Held& a, const Held& b) { return a.number < b.number; });
  return all;
}

}  // namespace shoal
