#ifndef SHOAL_RPC_OWN_HOST_H_
#define SHOAL_RPC_OWN_HOST_H_

#include <string>

#include "absl/status/statusor.h"

namespace shoal {

// The IP address of this host from which the system would reach `address`
// (rpc/address.h): "10.0.0.3", or "[fd00::3]" for IPv6. A process listens there
// for others that reach `address` too. Sends nothing. May block while the name
// of the host is looked up. Errors: INVALID_ARGUMENT (`address` is no address),
// UNAVAILABLE (its host name does not resolve, or no network leads to it).
absl::StatusOr<std::string> OwnHostTowards(const std::string& address);

}  // namespace shoal

#endif  // SHOAL_RPC_OWN_HOST_H_
