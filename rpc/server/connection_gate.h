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

// Accepts a server's connections on a thread of its own and hands them to gRPC,
// which by itself takes any number of them, keeps those that say nothing for
// two minutes and stops listening when the process has no more file
// descriptors. Closes those that ConnectionTable wants closed. Thread-safe.
class ConnectionGate {
 public:
  // Takes over the descriptor of a connection that came on a listening one.
  using HandOver = std::function<void(int listening_fd, int fd)>;

  // `clock` gives the time and must outlive the gate.
  ConnectionGate(ListeningSockets sockets, ConnectionLimits limits,
                 const Executor* clock);
  ~ConnectionGate();

  // From now on connections are accepted. Once. INTERNAL: the system refuses.
  absl::Status Start(HandOver hand_over);
  // No connection is accepted any more. Before what HandOver needs ends.
  void Stop();

  // A call came from `peer`, in gRPC's words ("ipv4:10.0.0.1:40000"): the
  // number of its connection, 0 if it is not known. One that sends too many
  // calls without the token is closed.
  uint64_t OnCall(const std::string& peer, bool has_token);

 private:
  using Id = ConnectionTable::Id;
  struct Connection {
    std::string peer;
    // A second descriptor of the connection: to see its end and to bring it
    // about, however long gRPC's own lives.
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
