#ifndef SHOAL_CLUSTER_RATE_WINDOW_H_
#define SHOAL_CLUSTER_RATE_WINDOW_H_

#include <cstdint>
#include <deque>
#include <utility>

#include "absl/time/time.h"

namespace shoal {

// The rate at which a count grows: its growth over the newest `span`, per
// second. Holds at most `kPoints` points. Thread-compatible; times do not go
// back.
class RateWindow {
 public:
  explicit RateWindow(absl::Duration span = absl::Seconds(5));

  void Add(uint64_t count, absl::Time now);
  double PerSecond() const;

 private:
  static constexpr int kPoints = 64;

  const absl::Duration span_;
  std::deque<std::pair<absl::Time, uint64_t>> points_;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_RATE_WINDOW_H_
