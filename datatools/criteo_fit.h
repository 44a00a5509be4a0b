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

// Integers above these count as these while minima and maxima are fitted; the
// reference took them from the data's 95 % quantiles.
inline constexpr std::array<int64_t, kCriteoIntegers> kCriteoClips = {
    20, 600, 100, 50, 64000, 500, 100, 50, 500, 10, 10, 10, 50};

// Fits CriteoFeatures to rows: minima and maxima of the integers, and the
// categories of each column that at least `cutoff` rows have, by falling count,
// equal ones by their bytes. The order of the rows does not matter.
//
// Holds every distinct category that it met, up to max_values over all
// columns; CriteoCategoryMap says what one takes. Thread-compatible.
class CriteoFit {
 public:
  explicit CriteoFit(uint64_t max_values) : max_values_(max_values) {}

  // RESOURCE_EXHAUSTED: more than max_values.
  absl::Status Add(const CriteoRow& row);

  // Distinct categories met so far.
  uint64_t values() const { return values_; }

  // Gives the memory of the counts back as it goes. Call once, last.
  absl::StatusOr<CriteoFeatures> Finish(uint64_t cutoff);

 private:
  const uint64_t max_values_;
  uint64_t values_ = 0;
  CriteoFacts facts_;
  std::array<CriteoCategoryMap<uint64_t>, kCriteoCategories> counts_;
};

}  // namespace shoal

#endif  // SHOAL_DATATOOLS_CRITEO_FIT_H_
