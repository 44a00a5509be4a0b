#include "launch/host_list.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace shoal {
namespace {

bool HasPort(absl::string_view entry) {
  const size_t colon = entry.rfind(':');
  if (colon == absl::string_view::npos || colon == 0) return false;
  const absl::string_view host = entry.substr(0, colon);
  const bool bracketed =
      absl::StartsWith(host, "[") && absl::EndsWith(host, "]");
  if (!bracketed && absl::StrContains(host, ":")) return false;
  int port = 0;
  return absl::SimpleAtoi(entry.substr(colon + 1), &port) && port >= 1 &&
         port <= 65535;
}

}  // namespace

std::string HostOfEntry(absl::string_view entry) {
  entry = absl::StripAsciiWhitespace(entry);
  if (absl::StartsWith(entry, "[")) {
    const size_t end = entry.find(']');
    if (end != absl::string_view::npos) entry = entry.substr(1, end - 1);
  } else if (entry.find(':') == entry.rfind(':')) {
    entry = entry.substr(0, entry.find(':'));
  }
  if (absl::EndsWith(entry, ".")) entry.remove_suffix(1);
  const std::string host = absl::AsciiStrToLower(entry);
  in6_addr address = {};
  char shortest[INET6_ADDRSTRLEN] = "";
  if (inet_pton(AF_INET6, host.c_str(), &address) != 1) return host;
  return inet_ntop(AF_INET6, &address, shortest, sizeof(shortest));
}

bool IsLoopbackHost(absl::string_view host) {
  return host == "localhost" || host == "::1" ||
         absl::StartsWith(host, "127.");
}

absl::StatusOr<std::vector<std::string>> ParseHostList(absl::string_view flag,
                                                       absl::string_view text,
                                                       bool need_ports) {
  std::vector<std::string> hosts;
  std::set<std::string> seen;
  for (absl::string_view entry : absl::StrSplit(text, ',')) {
    entry = absl::StripAsciiWhitespace(entry);
    if (entry.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", flag, "=", text, " has an empty entry"));
    }
    if (need_ports && !HasPort(entry)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", flag, ": '", entry,
                       "' must be host:port with a port in [1, 65535]"));
    }
    if (need_ports && !seen.insert(std::string(entry)).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", flag, ": '", entry, "' is given twice"));
    }
    hosts.emplace_back(entry);
  }
  return hosts;
}

}  // namespace shoal
