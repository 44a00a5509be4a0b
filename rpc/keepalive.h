#ifndef SHOAL_RPC_KEEPALIVE_H_
#define SHOAL_RPC_KEEPALIVE_H_

#include <algorithm>

#include "absl/time/time.h"

namespace shoal {

// When a connection on which nothing arrives is asked for a sign of life, and
// how long after that it is given up. gRPC does both, on either side.
struct Keepalive {
  absl::Duration time;
  absl::Duration timeout;
};

// For processes that take each other for dead after `silent_after`: a
// connection to a frozen process outlives that deadline, so that the deadline
// decides, and is given up soon after it. A PS's lease is never longer.
inline Keepalive KeepaliveFor(absl::Duration silent_after) {
  // Servers take a sign of life every 500 ms (rpc/server/rpc_server.cc).
  const absl::Duration timeout =
      std::clamp(silent_after, absl::Seconds(1), absl::Hours(1));
  return {timeout / 2, timeout};
}

}  // namespace shoal

#endif  // SHOAL_RPC_KEEPALIVE_H_
