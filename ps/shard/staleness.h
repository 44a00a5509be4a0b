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

// Measures the staleness of applied pushes: the shard's count of applied pushes
// when the push began to be applied, less the count in the reply of its pull. 0
// means that no other push was applied in between. Counts of different lives of
// a shard cannot be compared: a push whose pull saw another life (or no life,
// or a count that this life has not reached) is only counted. Pure.
// Thread-compatible (the shard locks it).
class StalenessLog {
 public:
  // The number of worker lives, the newest ones, that have a histogram each.
  // Older lives share the histogram of life 0.0, so that endless restarts do
  // not take endless memory.
  static constexpr size_t kWorkersMax = 1024;

  // `variables` is the number of variables.
  explicit StalenessLog(size_t variables) : by_variable_(variables) {}

  // Records that a push by `worker` is applied at version `now` and touches the
  // variables with the indexes `touched`. REQUIRES: indexes < variables.
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
