#ifndef SHOAL_RPC_ADDRESS_H_
#define SHOAL_RPC_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace shoal {

// The address on which a process listens or at which it is reached:
// "host:port", "1.2.3.4:port" or "[::1]:port".
struct Address {
  std::string host;  // without brackets
  int port = 0;      // 0: listen on any free port

  std::string ToString() const;
  // The host as ToString writes it: in brackets if it is an IPv6 address.
  std::string HostText() const;
  // True if only this machine can reach it: localhost, 127.0.0.0/8 or ::1.
  bool IsLoopback() const;
};

// Refuses all other schemes (unix:, dns:///). INVALID_ARGUMENT says what is
// wrong.
absl::StatusOr<Address> ParseAddress(absl::string_view text);

}  // namespace shoal

#endif  // SHOAL_RPC_ADDRESS_H_
