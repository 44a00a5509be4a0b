#include "rpc/server/connection_table.h"

namespace shoal {

std::vector<ConnectionTable::Id> ConnectionTable::Add(Id id,
                                                      const std::string& host,
                                                      absl::Time now) {
  std::vector<Id> close;
  const auto close_oldest = [&](const std::set<Id>& ids) {
    const Id oldest = *ids.begin();
    close.push_back(oldest);
    Forget(connections_.find(oldest));
  };
  const auto full = [this, &close] {
    return connections_.size() >=
           close.size() + static_cast<size_t>(limits_.max_connections);
  };
  const auto of_host = unknown_of_host_.find(host);
  if (of_host != unknown_of_host_.end() &&
      of_host->second.size() >=
          static_cast<size_t>(limits_.max_unknown_of_host)) {
    close_oldest(of_host->second);
  }
  if (unknown_.size() >= static_cast<size_t>(limits_.max_unknown) ||
      (full() && !unknown_.empty())) {
    close_oldest(unknown_);
  }
  const bool refuse = full();
  const auto added =
      connections_.emplace(id, Connection{host, now + limits_.token_deadline})
          .first;
  unknown_.insert(id);
  unknown_of_host_[host].insert(id);
  if (refuse) {
    close.push_back(id);
    Forget(added);
  }
  return close;
}

void ConnectionTable::Forget(std::map<Id, Connection>::iterator connection) {
  if (!connection->second.unknown) return;
  connection->second.unknown = false;
  unknown_.erase(connection->first);
  const auto of_host = unknown_of_host_.find(connection->second.host);
  of_host->second.erase(connection->first);
  if (of_host->second.empty()) unknown_of_host_.erase(of_host);
}

void ConnectionTable::Remove(Id id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  Forget(found);
  connections_.erase(found);
}

void ConnectionTable::OnToken(Id id) {
  const auto found = connections_.find(id);
  if (found != connections_.end()) Forget(found);
}

bool ConnectionTable::OnRefused(Id id) {
  const auto found = connections_.find(id);
  if (found == connections_.end() || !found->second.unknown) return false;
  if (++found->second.refused < limits_.max_refused_calls) return false;
  Forget(found);
  return true;
}

std::vector<ConnectionTable::Id> ConnectionTable::Expire(absl::Time now) {
  std::vector<Id> close;
  while (!unknown_.empty()) {
    const auto oldest = connections_.find(*unknown_.begin());
    if (oldest->second.until > now) break;
    close.push_back(oldest->first);
    Forget(oldest);
  }
  return close;
}

absl::Time ConnectionTable::NextExpiry() const {
  if (unknown_.empty()) return absl::InfiniteFuture();
  return connections_.find(*unknown_.begin())->second.until;
}

std::vector<ConnectionTable::Id> ConnectionTable::CloseOldest() {
  std::vector<Id> close;
  if (unknown_.empty()) return close;
  close.push_back(*unknown_.begin());
  Forget(connections_.find(close.front()));
  return close;
}

}  // namespace shoal
