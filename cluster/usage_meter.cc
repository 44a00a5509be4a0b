#include "cluster/usage_meter.h"

#include <algorithm>

namespace shoal {

void UsageMeter::Add(const ResourceUsage& usage, absl::Time now) {
  cpu_.Add({usage.cpu_seconds}, now);
  peak_rss_bytes_ =
      std::max({peak_rss_bytes_, usage.peak_rss_bytes, usage.rss_bytes});
}

}  // namespace shoal
