#include "rpc/server/listening_sockets.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

void Set(int fd, int level, int option, int value) {
  setsockopt(fd, level, option, &value, sizeof(value));
}

void SetPort(sockaddr* address, int port) {
  const in_port_t value = htons(static_cast<uint16_t>(port));
  if (address->sa_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(address)->sin6_port = value;
  } else {
    reinterpret_cast<sockaddr_in*>(address)->sin_port = value;
  }
}

int PortOf(int fd) {
  sockaddr_storage name = {};
  socklen_t size = sizeof(name);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size) != 0) return 0;
  return ntohs(name.ss_family == AF_INET6
                   ? reinterpret_cast<sockaddr_in6*>(&name)->sin6_port
                   : reinterpret_cast<sockaddr_in*>(&name)->sin_port);
}

absl::Status Explain(const Address& address, int error) {
  const std::string prefix =
      absl::StrCat("cannot listen on ", address.ToString(), ": ");
  if (error == EADDRINUSE) {
    return absl::AlreadyExistsError(absl::StrCat(
        prefix,
        "another process listens there: end it (one of an earlier run?) or "
        "choose another address with --listen or --ps_hosts, or in a ring with "
        "--worker_hosts or --coordinator"));
  }
  return absl::UnavailableError(absl::StrCat(
      prefix, std::strerror(error),
      ": choose an address of this machine with --listen or --ps_hosts, or in "
      "a ring with --worker_hosts or --coordinator"));
}

}  // namespace

absl::StatusOr<ListeningSockets> ListeningSockets::Copy() const {
  ListeningSockets copy;
  copy.port_ = port_;
  for (const int fd : fds_) {
    const int same = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (same < 0) {
      return absl::InternalError(
          absl::StrCat("cannot keep port ", port_, ": ", std::strerror(errno)));
    }
    copy.fds_.push_back(same);
  }
  return copy;
}

ListeningSockets::~ListeningSockets() {
  for (const int fd : fds_) close(fd);
}

int ListeningSockets::Listen(int port, absl::FunctionRef<int()> listen) {
  int error = listen();
  for (int i = 1; i < kAttempts && port == 0 && error == EADDRINUSE; ++i) {
    error = listen();
  }
  return error;
}

int ListeningSockets::ListenOn(const addrinfo* addresses, int port,
                               absl::Duration user_timeout) {
  port_ = port;
  int error = 0;
  int unsupported = EAFNOSUPPORT;
  for (const addrinfo* a = addresses; a != nullptr && error == 0;
       a = a->ai_next) {
    const int fd =
        socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
      unsupported = errno;
      continue;
    }
    Set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    // Accepted connections inherit these options.
    Set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    Set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT,
        static_cast<int>(absl::ToInt64Milliseconds(user_timeout)));
    // All addresses of a name get the same port, also if any free port was
    // asked for.
    SetPort(a->ai_addr, port_);
    if (bind(fd, a->ai_addr, a->ai_addrlen) != 0 ||
        listen(fd, SOMAXCONN) != 0) {
      // A name may have an address of a family that this host does not use.
      const bool absent = errno == EADDRNOTAVAIL || errno == EAFNOSUPPORT;
      (absent ? unsupported : error) = errno;
      close(fd);
      continue;
    }
    fds_.push_back(fd);
    if (port_ == 0) port_ = PortOf(fd);
  }
  return error == 0 && fds_.empty() ? unsupported : error;
}

absl::StatusOr<ListeningSockets> ListeningSockets::Open(
    const Address& address, absl::Duration user_timeout) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int resolved = getaddrinfo(
      address.host.c_str(), absl::StrCat(address.port).c_str(), &hints, &found);
  if (resolved != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", address.ToString(), ": ",
                     gai_strerror(resolved), ": check the host's name"));
  }
  ListeningSockets sockets;
  const int error = Listen(address.port, [&] {
    sockets = ListeningSockets();
    return sockets.ListenOn(found, address.port, user_timeout);
  });
  freeaddrinfo(found);
  if (error != 0) return Explain(address, error);
  return sockets;
}

}  // namespace shoal
