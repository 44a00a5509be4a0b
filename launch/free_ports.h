#ifndef SHOAL_LAUNCH_FREE_PORTS_H_
#define SHOAL_LAUNCH_FREE_PORTS_H_

#include <vector>

#include "absl/status/statusor.h"

namespace shoal {

// `count` different TCP ports of the loopback address on which nothing listens,
// drawn at random from [15000, 32000): below what the system gives to outgoing
// connections, so that none takes them in the meantime. Another process still
// may, which its server then says. RESOURCE_EXHAUSTED if there are too few.
absl::StatusOr<std::vector<int>> PickFreePorts(int count);

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FREE_PORTS_H_
