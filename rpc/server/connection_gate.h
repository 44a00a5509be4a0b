#ifndef SHOAL_RPC_SERVER_CONNECTION_GATE_H_
#define SHOAL_RPC_SERVER_CONNECTION_GATE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/executor.h"
#include "base/mutex.h"
#include "rpc/server/connection_table.h"
#include "rpc/server/listening_sockets.h"

namespace shoal {

// Accepts a server's connections on its own thread, hands them to gRPC, and
// closes those that ConnectionTable wants closed. gRPC's own listener would
// accept any number of connections, would keep silent ones for two minutes, and
// would stop to listen when the process has no file descriptors left.
// Thread-safe.
class ConnectionGate {
 public:
  // Takes over `fd`, a connection that was accepted from `listening_fd`.
  using HandOver = std::function<void(int listening_fd, int fd)>;

  // `clock` gives the time, and must outlive the gate.
  ConnectionGate(ListeningSockets sockets, ConnectionLimits limits,
                 const Executor* clock);
  ~ConnectionGate();

  // Starts to accept connections. INTERNAL: the system cannot watch the
  // sockets. REQUIRES: called once.
  absl::Status Start(HandOver hand_over);
  // Accepts no more connections. Call it before anything that HandOver needs is
  // destroyed.
  void Stop();

  // Says that a call came from `peer`, which has gRPC's form
  // ("ipv4:10.0.0.1:40000"). Returns the number of the call's connection, or 0
  // if it is unknown. Closes a connection with too many calls without the
  // token.
  uint64_t OnCall(const std::string& peer, bool has_token);

 private:
  using Id = ConnectionTable::Id;
  struct Connection {
    std::string peer;
    // A second descriptor of the connection, to notice its end and to close it
    // while gRPC still has the first descriptor.
    int fd = -1;
  };

  void Run();
  void Accept(int listening_fd);
  void Close(const std::vector<Id>& ids) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Forget(Id id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  int WaitMillis();

  const ListeningSockets sockets_;
  const Executor* const clock_;
  HandOver hand_over_;
  int epoll_fd_ = -1;
  int stop_fd_ = -1;
  std::thread thread_;

  Mutex mu_;
  Id last_id_ ABSL_GUARDED_BY(mu_) = 0;
  ConnectionTable table_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<Id, Connection> connections_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, Id> by_peer_ ABSL_GUARDED_BY(mu_);
};

}  // namespace shoal

#endif  // SHOAL_RPC_SERVER_CONNECTION_GATE_H_
