#include "rpc/port_probe.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rpc/address.h"

namespace shoal {
namespace {

PortState StateOf(int error) {
  if (error == 0) return PortState::kOpen;
  return error == ECONNREFUSED ? PortState::kRefused : PortState::kUnknown;
}

// True if this host does not use the address's family. The address then says
// nothing about the process.
bool NoSuchFamily(int error) {
  return error == EAFNOSUPPORT || error == EADDRNOTAVAIL ||
         error == ENETUNREACH;
}

// Returns 0, or the errno of why there is no connection.
int Connect(const addrinfo& address, absl::Duration timeout) {
  const int fd = socket(address.ai_family,
                        SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return errno;
  int error = 0;
  if (connect(fd, address.ai_addr, address.ai_addrlen) != 0) error = errno;
  if (error == EINPROGRESS) {
    pollfd ready = {fd, POLLOUT, 0};
    socklen_t size = sizeof(error);
    if (poll(&ready, 1,
             static_cast<int>(absl::ToInt64Milliseconds(timeout))) != 1 ||
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
      error = ETIMEDOUT;
    }
  }
  close(fd);
  return error;
}

}  // namespace

PortState ProbePort(const std::string& address, absl::Duration timeout) {
  const absl::StatusOr<Address> parsed = ParseAddress(address);
  if (!parsed.ok()) return PortState::kUnknown;
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(parsed->host.c_str(), absl::StrCat(parsed->port).c_str(),
                  &hints, &found) != 0) {
    return PortState::kUnknown;
  }
  PortState state = PortState::kUnknown;
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
    const int error = Connect(*a, timeout);
    if (NoSuchFamily(error)) continue;
    state = StateOf(error);
    if (state != PortState::kRefused) break;
  }
  freeaddrinfo(found);
  return state;
}

}  // namespace shoal
