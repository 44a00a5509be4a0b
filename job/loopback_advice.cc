#include "job/loopback_advice.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "absl/strings/str_cat.h"
#include "rpc/address.h"

namespace shoal {
namespace {

bool IsLoopback(const sockaddr* address) {
  if (address->sa_family == AF_INET6) {
    const in6_addr& v6 =
        reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(&v6);
  }
  const in_addr& v4 = reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  return (ntohl(v4.s_addr) >> 24) == 127;
}

}  // namespace

std::string LoopbackAdvice(const std::string& address, bool has_listen) {
  const absl::StatusOr<Address> parsed = ParseAddress(address);
  if (!parsed.ok() || parsed->IsLoopback()) return "";
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(parsed->host.c_str(), nullptr, &hints, &found) != 0) {
    return "";
  }
  bool loopback = true;
  char text[NI_MAXHOST] = "";
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
    loopback &= IsLoopback(a->ai_addr);
  }
  getnameinfo(found->ai_addr, found->ai_addrlen, text, sizeof(text), nullptr, 0,
              NI_NUMERICHOST);
  freeaddrinfo(found);
  if (!loopback) return "";
  return absl::StrCat("on this host the name '", parsed->host, "' is ", text,
                      ", so no other host can reach this server: correct "
                      "/etc/hosts",
                      has_listen ? absl::StrCat(", or give --listen=0.0.0.0:",
                                                parsed->port)
                                 : "");
}

}  // namespace shoal
