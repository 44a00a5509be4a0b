#ifndef SHOAL_DATATOOLS_CRITEO_FIT_H_
#define SHOAL_DATATOOLS_CRITEO_FIT_H_

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "datatools/criteo_category_map.h"
#include "datatools/criteo_features.h"
#include "worker/data/criteo_row.h"

namespace shoal {

// Larger integers count as these values while minima and maxima are fitted. The
// reference took the values from the 95 % quantiles of the data.
inline constexpr std::array<int64_t, kCriteoIntegers> kCriteoClips = {
    20, 600, 100, 50, 64000, 500, 100, 50, 500, 10, 10, 10, 50};

// Fits CriteoFeatures to rows: the minima and maxima of the integers, and the
// categories of each column that at least `cutoff` rows have. Categories are
// sorted by falling count, and by their bytes if the counts are equal. The
// order of the rows does not matter.
//
// Holds every distinct category, up to max_values over all columns;
// CriteoCategoryMap says how much memory each takes. Thread-compatible.
class CriteoFit {
 public:
  explicit CriteoFit(uint64_t max_values) : max_values_(max_values) {}

  // RESOURCE_EXHAUSTED: there are more than max_values distinct categories.
  absl::Status Add(const CriteoRow& row);

  // Distinct categories so far.
  uint64_t values() const { return values_; }

  // Makes the encoding, and frees the memory of the counts on the way. Call
  // once, last.
  absl::StatusOr<CriteoFeatures> Finish(uint64_t cutoff);

 private:
  const uint64_t max_values_;
  uint64_t values_ = 0;
  CriteoFacts facts_;
  std::array<CriteoCategoryMap<uint64_t>, kCriteoCategories> counts_;
};

}  // namespace shoal

#endif  // SHOAL_DATATOOLS_CRITEO_FIT_H_
