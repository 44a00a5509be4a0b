#ifndef SHOAL_RPC_PORT_PROBE_H_
#define SHOAL_RPC_PORT_PROBE_H_

#include <string>

#include "absl/time/time.h"

namespace shoal {

// The result of a TCP connection to an address.
enum class PortState {
  kOpen,     // some process listens there, even if it is frozen
  kRefused,  // the host answers, and no process listens
  kUnknown,  // no answer in time, no route, no such name, or not an address
};

// Connects to `address` (rpc/address.h) and closes the connection. A name with
// several addresses is kRefused if every address that this host can reach is.
// Blocks the caller for the resolution of the name, and for at most `timeout`
// with each address.
PortState ProbePort(const std::string& address, absl::Duration timeout);

}  // namespace shoal

#endif  // SHOAL_RPC_PORT_PROBE_H_
