#ifndef SHOAL_CLUSTER_USAGE_METER_H_
#define SHOAL_CLUSTER_USAGE_METER_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "base/resource_usage.h"

namespace shoal {

// The resources that the processes of one (role, index) used, over all lives
// and in a window of time. A life that was killed counts as of its last
// message. At the window's edges the processor time is interpolated linearly
// between the messages before and after. Thread-compatible; times do not go
// back.
class UsageMeter {
 public:
  // A process registered.
  void NewLife(absl::Time now);
  // The newest usage of the present life, summed since its start.
  void Add(const ResourceUsage& usage, absl::Time now);

  // Open and close the job's window, each once. If it was opened before the
  // first life, or never, all usage up to the close counts.
  void OpenWindow(absl::Time now);
  void CloseWindow(absl::Time now);

  double cpu_seconds() const { return earlier_lives_ + this_life_; }
  uint64_t peak_rss_bytes() const { return peak_rss_bytes_; }
  // Processor time in the window, up to now while the window is not closed.
  double WindowCpuSeconds() const;

 private:
  // The value of the growing sum at a time between two messages.
  struct Edge {
    absl::Time at;
    absl::Time before;  // time of the newest message when the edge was set
    double value = 0;   // the sum then; after the next message, the sum at `at`
    bool resolved = false;
  };

  void Resolve(std::optional<Edge>& edge, absl::Time now, double value);
  std::optional<Edge> NewEdge(absl::Time now) const;

  double earlier_lives_ = 0;
  double this_life_ = 0;
  uint64_t peak_rss_bytes_ = 0;
  std::optional<absl::Time> newest_;
  std::optional<Edge> open_;
  std::optional<Edge> close_;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_USAGE_METER_H_
