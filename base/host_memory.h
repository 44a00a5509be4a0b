#ifndef SHOAL_BASE_HOST_MEMORY_H_
#define SHOAL_BASE_HOST_MEMORY_H_

#include <cstdint>
#include <string>

namespace shoal {

// Memory that the processes of this host, or of this control group, may use.
struct HostMemory {
  // The host's, or the lowest limit of the control groups that this process is
  // in. 0: the system does not tell.
  uint64_t total_bytes = 0;
  // What of it nobody uses, or could be given up at once (caches).
  uint64_t available_bytes = 0;
  // For people: "this host", or "control group /a/b".
  std::string whose = "this host";
};

// Reads /proc/meminfo, and the control groups of both versions. `root` stands
// before every path, for tests; "" is the system's own.
HostMemory ReadHostMemory(const std::string& root = "");

}  // namespace shoal

#endif  // SHOAL_BASE_HOST_MEMORY_H_
