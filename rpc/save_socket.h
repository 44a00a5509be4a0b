#ifndef SHOAL_RPC_SAVE_SOCKET_H_
#define SHOAL_RPC_SAVE_SOCKET_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "core/cluster_service.h"

namespace shoal {

// A gRPC server on a Unix socket, which serves SaveCheckpoint of
// proto/shoal.proto and no other method: `shoal ckpt save MODEL_DIR` calls it.
// No TCP port is opened and no token is needed: the socket has mode 0600, so
// that the system lets in processes of this user (and of root) alone.
// Thread-safe.
//
//   SHOAL_ASSIGN_OR_RETURN(auto socket, SaveSocket::Listen(
//       "/tmp/shoal-x7YbQ2/save", "", coordinator.get(), &completions));
class SaveSocket {
 public:
  // The longest path of a socket, in bytes.
  static constexpr size_t kPathMax = 107;

  // Listens on `path`, which is absolute, of letters, digits and "/._-", and in
  // a directory that no other user can enter. Requests are for the job with the
  // label `job`. `executor` runs timers. `cluster` and `executor` must outlive
  // the socket. Errors: INVALID_ARGUMENT (the path), UNAVAILABLE (the system
  // refuses the socket).
  static absl::StatusOr<std::unique_ptr<SaveSocket>> Listen(
      const std::string& path, const std::string& job, ClusterService* cluster,
      Executor* executor);

  // Ends calls at once, waits until the service has answered or dropped them,
  // and removes the socket. REQUIRES: the caller is not a thread that the
  // service needs for that.
  ~SaveSocket();

 private:
  class Impl;
  explicit SaveSocket(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shoal

#endif  // SHOAL_RPC_SAVE_SOCKET_H_
