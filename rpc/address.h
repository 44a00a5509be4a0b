#ifndef SHOAL_RPC_ADDRESS_H_
#define SHOAL_RPC_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace shoal {

// Where a process listens or is reached: "host:port", "1.2.3.4:port" or
// "[::1]:port".
struct Address {
  std::string host;  // without brackets
  int port = 0;      // 0: to listen on any free one

  std::string ToString() const;
  // Only this machine reaches it: localhost, 127.0.0.0/8 or ::1.
  bool IsLoopback() const;
};

// INVALID_ARGUMENT says what is wrong; other schemes (unix:, dns:///) are
// refused.
absl::StatusOr<Address> ParseAddress(absl::string_view text);

}  // namespace shoal

#endif  // SHOAL_RPC_ADDRESS_H_
