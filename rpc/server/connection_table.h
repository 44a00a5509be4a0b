#ifndef SHOAL_RPC_SERVER_CONNECTION_TABLE_H_
#define SHOAL_RPC_SERVER_CONNECTION_TABLE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace shoal {

struct ConnectionLimits {
  // Connections in all.
  int max_connections = 16384;
  // Connections that have not shown the token: in all, and from one host.
  int max_unknown = 1024;
  int max_unknown_of_host = 256;
  // Calls without the token on a connection that never had a call with it.
  int max_refused_calls = 16;
  // Time from the connection to its first call with the token.
  absl::Duration token_deadline = absl::Seconds(10);
};

// The connections of a server: which of them have shown the token, and which
// are to be closed, because they do not show it in time or are too many. The
// oldest connection without a token makes room for a new one: a client of the
// job shows its token as soon as it is connected. Pure: time comes in as an
// argument. Thread-compatible.
class ConnectionTable {
 public:
  // Grows from one connection to the next.
  using Id = uint64_t;

  explicit ConnectionTable(ConnectionLimits limits) : limits_(limits) {}

  // Takes a new connection; those to be closed for it, which may be itself.
  std::vector<Id> Add(Id id, const std::string& host, absl::Time now);
  // The connection is over.
  void Remove(Id id);

  // A call with the token came on the connection.
  void OnToken(Id id);
  // A call without the token came: whether the connection is to be closed.
  bool OnRefused(Id id);

  // Those to be closed, as they have shown no token in time.
  std::vector<Id> Expire(absl::Time now);
  // When the next one's time is up; InfiniteFuture if there is none.
  absl::Time NextExpiry() const;
  // The oldest one without a token, to be closed; none if the result is empty.
  std::vector<Id> CloseOldest();

  size_t size() const { return connections_.size(); }
  size_t unknown() const { return unknown_.size(); }

 private:
  struct Connection {
    std::string host;
    absl::Time until;
    int refused = 0;
    bool unknown = true;  // no token so far, and not being closed
  };

  void Forget(std::map<Id, Connection>::iterator connection);

  const ConnectionLimits limits_;
  std::map<Id, Connection> connections_;
  // Those without a token, the oldest first, in all and by host.
  std::set<Id> unknown_;
  std::map<std::string, std::set<Id>> unknown_of_host_;
};

}  // namespace shoal

#endif  // SHOAL_RPC_SERVER_CONNECTION_TABLE_H_
