#ifndef SHOAL_BASE_RESOURCE_USAGE_H_
#define SHOAL_BASE_RESOURCE_USAGE_H_

#include <cstdint>

namespace shoal {

// What a process has used since it started.
struct ResourceUsage {
  double cpu_seconds = 0;  // user and system, of all threads
  uint64_t rss_bytes = 0;  // resident now
  uint64_t peak_rss_bytes = 0;
};

// Of this process; memory is 0 where the system does not tell it. One system
// call and one small file: for heartbeats, not for inner loops. Any thread.
ResourceUsage CurrentResourceUsage();

}  // namespace shoal

#endif  // SHOAL_BASE_RESOURCE_USAGE_H_
