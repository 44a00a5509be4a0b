#ifndef SHOAL_RPC_SERVER_LISTENING_SOCKETS_H_
#define SHOAL_RPC_SERVER_LISTENING_SOCKETS_H_

#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "rpc/address.h"

struct addrinfo;

namespace shoal {

// Sockets that listen on one address: one socket for each address that the
// host's name resolves to. The destructor closes them. Thread-compatible.
class ListeningSockets {
 public:
  // Most calls of `listen` by Listen.
  static constexpr int kAttempts = 16;

  // `user_timeout` is the longest time for which a connection may leave sent
  // bytes unacknowledged. Errors, whose messages say what to do: ALREADY_EXISTS
  // (the address is in use), UNAVAILABLE (the process cannot listen on the
  // address).
  static absl::StatusOr<ListeningSockets> Open(const Address& address,
                                               absl::Duration user_timeout);

  ListeningSockets() = default;
  ListeningSockets(ListeningSockets&& other) noexcept { Swap(other); }
  ListeningSockets& operator=(ListeningSockets&& other) noexcept {
    Swap(other);
    return *this;
  }
  ~ListeningSockets();

  // Calls `listen`, which makes the sockets of all addresses for one port and
  // returns 0 or errno. If any free port was asked for (`port` is 0), the port
  // that is free for the first address may be busy on the second one: then
  // calls it again for another port. Returns the last result.
  static int Listen(int port, absl::FunctionRef<int()> listen);

  // The same sockets once more: they listen until all copies are gone.
  // INTERNAL: the system gives no descriptor.
  absl::StatusOr<ListeningSockets> Copy() const;

  absl::Span<const int> fds() const { return fds_; }
  int port() const { return port_; }  // never 0, even if `address` had port 0

 private:
  // Makes a socket for each address of the list. Returns 0 or errno.
  int ListenOn(const addrinfo* addresses, int port,
               absl::Duration user_timeout);
  void Swap(ListeningSockets& other) {
    std::swap(fds_, other.fds_);
    std::swap(port_, other.port_);
  }

  std::vector<int> fds_;
  int port_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_RPC_SERVER_LISTENING_SOCKETS_H_
