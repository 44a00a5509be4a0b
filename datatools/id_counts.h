#ifndef SHOAL_DATATOOLS_ID_COUNTS_H_
#define SHOAL_DATATOOLS_ID_COUNTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "base/check.h"
#include "core/ids.h"

namespace shoal {

// How often each id was met, in bounded memory: exact while there are at most
// max_ids of them, 16 bytes each and the map's slack (up to 40, 60 while it
// grows). Beyond, only the ids of every second, fourth, ... hash are kept
// (adaptive sampling: Flajolet 1990, "On adaptive sampling"), which estimates
// how many there are with a standard error of 1.2 / sqrt(max_ids).
// Thread-compatible.
class IdCounts {
 public:
  // REQUIRES: max_ids >= 1.
  explicit IdCounts(size_t max_ids) : max_ids_(max_ids) {
    SHOAL_DCHECK(max_ids >= 1);
  }

  void Add(FeatureId id);

  bool exact() const { return level_ == 0; }
  // How many distinct ids there were.
  uint64_t distinct() const { return uint64_t{counts_.size()} << level_; }
  // What share of all Adds the most frequent ids had: `share` of the distinct
  // ones, rounded down, but at least one. nullopt where they are not exact, or
  // there is none.
  std::optional<double> TopShare(double share) const;

 private:
  bool IsKept(FeatureId id) const;
  void Thin();

  const size_t max_ids_;
  int level_ = 0;  // one of 2^level hashes is kept
  uint64_t added_ = 0;
  absl::flat_hash_map<FeatureId, uint64_t> counts_;
};

}  // namespace shoal

#endif  // SHOAL_DATATOOLS_ID_COUNTS_H_
