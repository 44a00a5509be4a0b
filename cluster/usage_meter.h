#ifndef SHOAL_CLUSTER_USAGE_METER_H_
#define SHOAL_CLUSTER_USAGE_METER_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "base/resource_usage.h"

namespace shoal {

// What one (role, index) used over its lives, and how much of it in a window of
// time. A life that was killed counts at its last word. At the window's edges
// the processor time is interpolated linearly between the words around them.
// Thread-compatible; times do not go back.
class UsageMeter {
 public:
  // A process registered.
  void NewLife(absl::Time now);
  // The life's newest word on itself.
  void Add(const ResourceUsage& usage, absl::Time now);

  // The window of the job; each once. Opened before the first life, or never:
  // all its usage up to the close is in.
  void OpenWindow(absl::Time now);
  void CloseWindow(absl::Time now);

  double cpu_seconds() const { return earlier_lives_ + this_life_; }
  uint64_t peak_rss_bytes() const { return peak_rss_bytes_; }
  // Up to now while the window is not closed.
  double WindowCpuSeconds() const;

 private:
  // A value of the growing sum, at a time between two words.
  struct Edge {
    absl::Time at;
    absl::Time before;  // the newest word when the edge was set
    double value = 0;   // then; after the next word, at `at`
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
