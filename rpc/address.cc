#include "rpc/address.h"

#include <arpa/inet.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace shoal {
namespace {

absl::Status Bad(absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(
      "'", text, "' is not an address: ", why,
      "; expected host:port, 1.2.3.4:port or [IPv6 address]:port"));
}

bool IsHostCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

}  // namespace

std::string Address::ToString() const {
  return absl::StrCat(HostText(), ":", port);
}

std::string Address::HostText() const {
  const bool ipv6 = host.find(':') != std::string::npos;
  return ipv6 ? absl::StrCat("[", host, "]") : host;
}

bool Address::IsLoopback() const {
  if (host == "localhost") return true;
  in_addr v4;
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) {
    return (ntohl(v4.s_addr) >> 24) == 127;
  }
  in6_addr v6;
  return inet_pton(AF_INET6, host.c_str(), &v6) == 1 &&
         IN6_IS_ADDR_LOOPBACK(&v6);
}

absl::StatusOr<Address> ParseAddress(absl::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return Bad(text, "it has no port");
  absl::string_view host = text.substr(0, colon);
  const absl::string_view port_text = text.substr(colon + 1);
  Address address;
  if (!absl::SimpleAtoi(port_text, &address.port) || address.port < 0 ||
      address.port > 65535) {
    return Bad(text, "the port is not a number in [0, 65535]");
  }
  if (absl::ConsumePrefix(&host, "[")) {
    in6_addr v6;
    if (!absl::ConsumeSuffix(&host, "]") ||
        inet_pton(AF_INET6, std::string(host).c_str(), &v6) != 1) {
      return Bad(text, "there is no IPv6 address between the brackets");
    }
  } else {
    if (host.empty()) return Bad(text, "it has no host");
    for (const char c : host) {
      if (!IsHostCharacter(c)) {
        return Bad(text, "a host name cannot have one of its characters");
      }
    }
  }
  address.host = std::string(host);
  return address;
}

}  // namespace shoal
