#ifndef SHOAL_RPC_KEEPALIVE_H_
#define SHOAL_RPC_KEEPALIVE_H_

#include <algorithm>

#include "absl/time/time.h"

namespace shoal {

// gRPC's keepalive, on either side of a connection.
struct Keepalive {
  absl::Duration time;     // silence until a ping is sent
  absl::Duration timeout;  // wait for the answer until the connection is closed
};

// The keepalive for processes that take each other for dead after
// `silent_after`. A connection to a frozen process lasts longer than
// `silent_after`, so that this deadline decides, and is closed soon after it. A
// PS's lease is never longer than `silent_after`.
inline Keepalive KeepaliveFor(absl::Duration silent_after) {
  // Servers accept a ping every 500 ms (rpc/server/rpc_server.cc).
  const absl::Duration timeout =
      std::clamp(silent_after, absl::Seconds(1), absl::Hours(1));
  return {timeout / 2, timeout};
}

}  // namespace shoal

#endif  // SHOAL_RPC_KEEPALIVE_H_
