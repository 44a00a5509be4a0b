#include "datatools/criteo_fit.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace shoal {

absl::Status CriteoFit::Add(const CriteoRow& row) {
  ++facts_.rows;
  for (int i = 0; i < kCriteoIntegers; ++i) {
    if (!row.has_integer(i)) continue;
    const int64_t x = std::min(row.integers[i], kCriteoClips[i]);
    CriteoFacts::Range& range = facts_.integers[i];
    range.min = range.seen ? std::min(range.min, x) : x;
    range.max = range.seen ? std::max(range.max, x) : x;
    range.seen = true;
  }
  for (int c = 0; c < kCriteoCategories; ++c) {
    if (row.categories[c].empty()) continue;
    if (counts_[c][row.categories[c]]++ == 0) ++values_;
  }
  if (values_ <= max_values_) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "the first ", facts_.rows, " rows have more than ", max_values_,
      " distinct categories (max_values); raise --max_values if there is "
      "memory (60 bytes each), or fit a part of the files and apply that "
      "encoding to all with --features"));
}

absl::StatusOr<CriteoFeatures> CriteoFit::Finish(uint64_t cutoff) {
  facts_.cutoff = cutoff;
  for (int c = 0; c < kCriteoCategories; ++c) {
    std::vector<CriteoFacts::Category>& kept = facts_.categories[c];
    counts_[c].ForEach([&](absl::string_view value, uint64_t count) {
      if (count >= cutoff) kept.push_back({std::string(value), count});
    });
    counts_[c] = {};
    std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) {
      return a.count != b.count ? a.count > b.count : a.value < b.value;
    });
  }
  return CriteoFeatures::Make(std::move(facts_));
}

}  // namespace shoal
