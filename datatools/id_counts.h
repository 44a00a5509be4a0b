#ifndef SHOAL_DATATOOLS_ID_COUNTS_H_
#define SHOAL_DATATOOLS_ID_COUNTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "base/check.h"
#include "core/ids.h"

namespace shoal {

// Counts how often each id occurs, in bounded memory. The counts are exact for
// at most max_ids distinct ids, which take 16 bytes each and the map's slack
// (up to 40 bytes, 60 while the map grows). With more ids, only those whose
// hash is one of every second, fourth, ... are kept (adaptive sampling:
// Flajolet 1990, "On adaptive sampling"). That estimates the number of distinct
// ids with a relative standard error of 1.2 / sqrt(max_ids). Thread-compatible.
class IdCounts {
 public:
  // REQUIRES: max_ids >= 1.
  explicit IdCounts(size_t max_ids) : max_ids_(max_ids) {
    SHOAL_DCHECK(max_ids >= 1);
  }

  void Add(FeatureId id);

  bool exact() const { return level_ == 0; }
  // The number of distinct ids, estimated unless exact().
  uint64_t distinct() const { return uint64_t{counts_.size()} << level_; }
  // The share of all Adds that the most frequent ids had. `share` says how many
  // ids these are, as a part of the distinct ids; the number is rounded down,
  // but at least one. nullopt unless exact(), and if there are no ids.
  std::optional<double> TopShare(double share) const;

 private:
  bool IsKept(FeatureId id) const;
  void Thin();

  const size_t max_ids_;
  int level_ = 0;  // one in 2^level_ hashes is kept
  uint64_t added_ = 0;
  absl::flat_hash_map<FeatureId, uint64_t> counts_;
};

}  // namespace shoal

#endif  // SHOAL_DATATOOLS_ID_COUNTS_H_
