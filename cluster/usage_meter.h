#ifndef SHOAL_CLUSTER_USAGE_METER_H_
#define SHOAL_CLUSTER_USAGE_METER_H_

#include <cstdint>

#include "absl/time/time.h"
#include "base/resource_usage.h"
#include "cluster/window_sums.h"

namespace shoal {

// The resources that the processes of one (role, index) used, over all lives
// and in a window of time (cluster/window_sums.h). Thread-compatible; times do
// not go back.
class UsageMeter {
 public:
  // A process registered.
  void NewLife(absl::Time now) { cpu_.NewLife(now); }
  // The newest usage of the present life, summed since its start.
  void Add(const ResourceUsage& usage, absl::Time now);

  // As those of WindowSums.
  void OpenWindow(absl::Time now) { cpu_.OpenWindow(now); }
  void CloseWindow(absl::Time at) { cpu_.CloseWindow(at); }

  double cpu_seconds() const { return cpu_.total()[0]; }
  uint64_t peak_rss_bytes() const { return peak_rss_bytes_; }
  // Processor time in the window, up to now while the window is not closed.
  double WindowCpuSeconds() const { return cpu_.InWindow()[0]; }

 private:
  WindowSums<1> cpu_;
  uint64_t peak_rss_bytes_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_USAGE_METER_H_
