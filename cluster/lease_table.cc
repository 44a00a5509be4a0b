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
  int last = kEveryHost;
  for (const int host : options_.hosts) {
    if (std::exchange(last, host) != host) pools_.try_emplace(host);
  }
}

bool LeaseTable::Get(const std::map<uint32_t, Bits>& bits, Key key) const {
  const auto it = bits.find(key.first);
  return it != bits.end() && it->second.bits[key.second];
}

void LeaseTable::Set(std::map<uint32_t, Bits>* bits, Key key) {
  Bits& of_epoch = (*bits)[key.first];
  of_epoch.bits.resize(options_.num_pieces);
  of_epoch.bits[key.second] = true;
  ++of_epoch.count;
}

bool LeaseTable::Passed(Key key) const {
  if (key.first != next_.first) return key.first < next_.first;
  return !passed_.empty() && passed_[key.second];
}

void LeaseTable::CountUnfinished(uint32_t epoch, int change) {
  if (options_.hosts.empty()) return;
  uint32_t& count = unfinished_[epoch];
  count += change;
  if (count == 0) {
    unfinished_.erase(epoch);
    Tell(kEveryHost);  // the next epoch may be begun
  }
}

bool LeaseTable::MayBegin(uint32_t epoch) const {
  // What was passed over bounds how far one host may be ahead.
  return unfinished_.empty() || unfinished_.begin()->first + 1 >= epoch;
}

std::optional<LeaseTable::Key> LeaseTable::NextFree(Life owner, Pool* pool) {
  for (auto it = pool->free.begin(); it != pool->free.end();) {
    const Key key{it->place.first, it->piece};
    if (Get(done_, key)) {
      it = pool->free.erase(it);
      continue;
    }
    const auto work = works_.find(key);
    if (work == works_.end()) {
      works_[key].place = it->place;
    } else if (Contains(work->second.failed_on, owner)) {
      ++it;
      continue;
    }
    pool->free.erase(it);
    return key;
  }
  return std::nullopt;
}

std::optional<LeaseTable::Key> LeaseTable::NextNew(int pool) {
  while (next_ < std::min(limit_, Place{options_.num_epochs, 0})) {
    const auto [epoch, place] = next_;
    const auto done = done_.find(epoch);
    const bool whole = place == 0 && done != done_.end() &&
                       done->second.count == options_.num_pieces;
    if (whole || place == options_.num_pieces) {
      if (!MayBegin(epoch + 1)) return std::nullopt;
      if (options_.hosts.empty()) done_.erase(epoch);
      next_ = {epoch + 1, 0};
      order_.clear();
      passed_.clear();
      continue;
    }
    if (order_.empty()) {
      order_ = options_.shuffle
                   ? ShuffledPieces(options_.seed, epoch, options_.num_pieces)
                   : ListedPieces(options_.num_pieces);
      passed_.resize(options_.num_pieces);
    }
    const Key key{epoch, order_[place]};
    ++next_.second;
    passed_[key.second] = true;
    if (done != done_.end() && done->second.bits[key.second]) continue;
    CountUnfinished(epoch, +1);
    const int readers = PoolOf(key.second);
    if (readers == pool) {
      works_[key].place = {epoch, place};
      return key;
    }
    std::set<Leasable>& free = pools_[readers].free;
    free.insert(free.end(), Leasable{{epoch, place}, key.second});
    Tell(readers);
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
  // It would pass over every piece to find that none is its own.
  if (has_hosts() && pools_.count(readers) == 0) return std::nullopt;
  Pool& pool = pools_[readers];
  std::optional<Key> key = NextFree(owner, &pool);
  if (!key.has_value()) key = NextNew(readers);
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
  if (!options_.hosts.empty()) return false;
  if (next_ < std::min(limit_, Place{options_.num_epochs, 0})) return false;
  const auto pool = pools_.find(0);
  if (pool == pools_.end()) return true;
  const auto& [free, single] = pool->second;
  return free.empty() && (single.empty() || now - single.begin()->first <
                                                options_.speculate_after);
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
  const auto it = works_.find(key);
  if (it != works_.end()) {
    const Work& work = it->second;
    Unlist(key, work);
    if (work.leases.empty()) {
      pools_[PoolOf(piece)].free.erase({work.place, piece});
    }
    for (const uint64_t lease : work.leases) Forget(leases_.find(lease));
    works_.erase(it);
    CountUnfinished(epoch, -1);
    return;
  }
  const bool passed = Passed(key);
  // Only where there are hosts has one been passed and is nobody's work yet.
  if ((passed && options_.hosts.empty()) || Get(done_, key)) return;
  Set(&done_, key);
  if (passed) CountUnfinished(epoch, -1);
}

void LeaseTable::Reopen(uint32_t epoch, uint32_t piece) {
  const Key key{epoch, piece};
  if (Get(done_, key)) {
    Bits& done = done_[epoch];
    done.bits[piece] = false;
    --done.count;
  }
  if (!Passed(key) || works_.contains(key)) return;
  works_[key].place = {epoch, 0};
  pools_[PoolOf(piece)].free.insert({{epoch, 0}, piece});
  Tell(PoolOf(piece));
  CountUnfinished(epoch, +1);
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

std::vector<LeaseTable::Held> LeaseTable::held() const {
  std::vector<Held> all;
  all.reserve(leases_.size());
  for (const auto& [number, held] : leases_) all.push_back(held);
  std::sort(all.begin(), all.end(),
            [](const Held& a, const Held& b) { return a.number < b.number; });
  return all;
}

}  // namespace shoal
