#ifndef SHOAL_RPC_PORT_PROBE_H_
#define SHOAL_RPC_PORT_PROBE_H_

#include <string>

#include "absl/time/time.h"

namespace shoal {

// What a TCP connection to an address meets.
enum class PortState {
  kOpen,     // some process listens there, even if it is frozen
  kRefused,  // the host is there, and no process listens
  kUnknown,  // no answer in time, no route, no such name, no address
};

// Connects to `address` (rpc/address.h) and hangs up. A name with several
// addresses is refused if each is that this host can reach. Blocks the caller:
// `timeout` an address at most, and as long as the name takes to be resolved.
PortState ProbePort(const std::string& address, absl::Duration timeout);

}  // namespace shoal

#endif  // SHOAL_RPC_PORT_PROBE_H_
