#ifndef SHOAL_PS_SHARD_STALENESS_H_
#define SHOAL_PS_SHARD_STALENESS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/types/span.h"
#include "base/histogram.h"
#include "core/ids.h"

namespace shoal {

// How stale the applied pushes were: the shard's count of applied pushes when
// this one began to be applied, less the count that its pull reply bore. 0:
// nothing came between. Counts of different lives of a shard cannot be
// compared: a push whose pull saw another life (or none, or a count that this
// life has not reached) is only counted. Pure. Thread-compatible (the shard
// locks it).
class StalenessLog {
 public:
  // Worker lives told apart, the newest; older ones are kept together under
  // life 0.0, so that restarts without end take no memory without end.
  static constexpr size_t kWorkersMax = 1024;

  // `variables`: how many there are.
  explicit StalenessLog(size_t variables) : by_variable_(variables) {}

  // A push by `worker` is applied at version `now`; it touched the variables
  // of these indexes. REQUIRES: indexes < variables.
  void Record(Life worker, const Version& pulled, const Version& now,
              absl::Span<const uint32_t> touched);

  const Histogram& all() const { return all_; }
  const std::vector<Histogram>& by_variable() const { return by_variable_; }
  const std::map<Life, Histogram>& by_worker() const { return by_worker_; }
  uint64_t pulled_in_other_life() const { return pulled_in_other_life_; }

 private:
  Histogram all_;
  std::vector<Histogram> by_variable_;
  std::map<Life, Histogram> by_worker_;
  uint64_t pulled_in_other_life_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_STALENESS_H_
