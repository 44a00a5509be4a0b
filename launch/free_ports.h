#ifndef SHOAL_LAUNCH_FREE_PORTS_H_
#define SHOAL_LAUNCH_FREE_PORTS_H_

#include <vector>

#include "absl/status/statusor.h"

namespace shoal {

// Returns `count` different TCP ports of the loopback address on which no
// process listens, drawn at random from [15000, 32000). The range is below the
// ports that the system gives to outgoing connections, so that no connection
// takes one of them in the meantime. Another process may still take one; the
// server that wanted the port then fails and says so. RESOURCE_EXHAUSTED if too
// few ports are free.
absl::StatusOr<std::vector<int>> PickFreePorts(int count);

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FREE_PORTS_H_
