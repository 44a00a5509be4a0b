#include "base/resource_usage.h"

#include <sys/resource.h>

#include <fstream>
#include <sstream>
#include <string>

namespace shoal {
namespace {

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

ResourceUsage CurrentResourceUsage() {
  ResourceUsage usage;
  rusage times;
  if (getrusage(RUSAGE_SELF, &times) == 0) {
    usage.cpu_seconds = Seconds(times.ru_utime) + Seconds(times.ru_stime);
  }
  // Not ru_maxrss, which a process inherits from the one that started it.
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    std::istringstream fields(line);
    std::string key;
    uint64_t kib = 0;
    if (!(fields >> key >> kib)) continue;
    if (key == "VmRSS:") usage.rss_bytes = kib * 1024;
    if (key == "VmHWM:") usage.peak_rss_bytes = kib * 1024;
  }
  return usage;
}

}  // namespace shoal
