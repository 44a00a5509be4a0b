#ifndef SHOAL_BASE_HOST_MEMORY_H_
#define SHOAL_BASE_HOST_MEMORY_H_

#include <cstdint>
#include <string>

namespace shoal {

// Memory that the processes of this host, or of this control group, may use.
struct HostMemory {
  // The host's memory, or the lowest limit of the control groups that this
  // process is in. 0: not known.
  uint64_t total_bytes = 0;
  // The part that is free or could be given up at once (caches).
  uint64_t available_bytes = 0;
  // True if total_bytes is the limit of a control group, which other processes
  // of the job may not be in.
  bool of_group = false;
  // The owner of the limit, for messages: "this host" or "control group /a/b".
  std::string whose = "this host";
};

// Reads /proc/meminfo, and the control groups of both versions. `root` is put
// before every path, for tests.
HostMemory ReadHostMemory(const std::string& root = "");

}  // namespace shoal

#endif  // SHOAL_BASE_HOST_MEMORY_H_
