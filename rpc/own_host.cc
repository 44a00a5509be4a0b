#include "rpc/own_host.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "rpc/address.h"

namespace shoal {
namespace {

// The own address of a datagram socket that is connected to `to`: the system
// looks up the way there and sends nothing. "" if there is no way.
std::string SourceFor(const addrinfo& to) {
  const int fd = socket(to.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return "";
  sockaddr_storage own = {};
  socklen_t size = sizeof(own);
  char host[NI_MAXHOST] = "";
  const bool found =
      connect(fd, to.ai_addr, to.ai_addrlen) == 0 &&
      getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) == 0 &&
      getnameinfo(reinterpret_cast<sockaddr*>(&own), size, host, sizeof(host),
                  nullptr, 0, NI_NUMERICHOST) == 0;
  const int error = errno;
  close(fd);
  errno = error;
  if (!found) return "";
  return to.ai_family == AF_INET6 ? absl::StrCat("[", host, "]") : host;
}

}  // namespace

absl::StatusOr<std::string> OwnHostTowards(const std::string& address) {
  SHOAL_ASSIGN_OR_RETURN(const Address to, ParseAddress(address));
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* addresses = nullptr;
  // A datagram socket needs a port to connect to, and any will do.
  const int error = getaddrinfo(to.host.c_str(), "9", &hints, &addresses);
  if (error != 0) {
    return absl::UnavailableError(absl::StrCat(
        "the host name '", to.host, "' does not resolve: ",
        error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error)));
  }
  std::string host;
  for (const addrinfo* a = addresses; a != nullptr && host.empty();
       a = a->ai_next) {
    host = SourceFor(*a);
  }
  const int reason = errno;
  freeaddrinfo(addresses);
  if (host.empty()) {
    return absl::UnavailableError(absl::StrCat(
        "no network leads to ", address, ": ", strerror(reason)));
  }
  return host;
}

}  // namespace shoal
