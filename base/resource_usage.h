#ifndef SHOAL_BASE_RESOURCE_USAGE_H_
#define SHOAL_BASE_RESOURCE_USAGE_H_

#include <cstdint>

namespace shoal {

// The resources that a process has used since it started.
struct ResourceUsage {
  double cpu_seconds = 0;  // user and system, of all threads
  uint64_t rss_bytes = 0;  // resident now
  uint64_t peak_rss_bytes = 0;
};

// The resource usage of this process. The memory is 0 if the system does not
// report it. Costs one system call and the reading of one small file: for
// heartbeats, not for inner loops. Thread-safe.
ResourceUsage CurrentResourceUsage();

}  // namespace shoal

#endif  // SHOAL_BASE_RESOURCE_USAGE_H_
