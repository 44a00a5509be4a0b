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

// The connections of a server. The table knows which connections have shown the
// token, and decides which connections are closed because they do not show it
// in time or are too many. A new connection replaces the oldest connection
// without a token, because a client of the job shows its token as soon as it is
// connected. Pure: the time is an argument. Thread-compatible.
class ConnectionTable {
 public:
  // Number of a connection. Later connections have larger numbers.
  using Id = uint64_t;

  explicit ConnectionTable(ConnectionLimits limits) : limits_(limits) {}

  // Adds a new connection. Returns the connections to close for it; this may be
  // the new connection itself.
  std::vector<Id> Add(Id id, const std::string& host, absl::Time now);
  // Says that the connection has ended.
  void Remove(Id id);

  // Says that a call with the token came on the connection.
  void OnToken(Id id);
  // Says that a call without the token came. True if the connection is to be
  // closed.
  bool OnRefused(Id id);

  // Returns the connections to close because they have shown no token in time.
  std::vector<Id> Expire(absl::Time now);
  // The time at which Expire next has a connection to close; InfiniteFuture if
  // no connection is to show the token.
  absl::Time NextExpiry() const;
  // Returns the oldest connection without a token, to be closed; empty if there
  // is no such connection.
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
  // Connections without a token, the oldest first: in all, and by host.
  std::set<Id> unknown_;
  std::map<std::string, std::set<Id>> unknown_of_host_;
};

}  // namespace shoal

#endif  // SHOAL_RPC_SERVER_CONNECTION_TABLE_H_
