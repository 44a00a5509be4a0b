#ifndef SHOAL_RPC_SERVER_LISTENING_SOCKETS_H_
#define SHOAL_RPC_SERVER_LISTENING_SOCKETS_H_

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "rpc/address.h"

namespace shoal {

// Sockets that listen on one address: one for each of what its host's name
// stands for. Closed at the end. Thread-compatible.
class ListeningSockets {
 public:
  // `user_timeout`: how long a connection may leave what is sent to it
  // unacknowledged. Errors: ALREADY_EXISTS (the address is in use), UNAVAILABLE
  // (it cannot be listened on); the message says what to do.
  static absl::StatusOr<ListeningSockets> Open(const Address& address,
                                               absl::Duration user_timeout);

  ListeningSockets() = default;
  ListeningSockets(ListeningSockets&& other) noexcept { Swap(other); }
  ListeningSockets& operator=(ListeningSockets&& other) noexcept {
    Swap(other);
    return *this;
  }
  ~ListeningSockets();

  absl::Span<const int> fds() const { return fds_; }
  int port() const { return port_; }  // also where any free one was asked for

 private:
  void Swap(ListeningSockets& other) {
    std::swap(fds_, other.fds_);
    std::swap(port_, other.port_);
  }

  std::vector<int> fds_;
  int port_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_RPC_SERVER_LISTENING_SOCKETS_H_
