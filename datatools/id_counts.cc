#include "datatools/id_counts.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "base/stable_hash.h"

namespace shoal {

bool IdCounts::IsKept(FeatureId id) const {
  return level_ == 0 || StableHash(id) >> (64 - level_) == 0;
}

void IdCounts::Add(FeatureId id) {
  ++added_;
  if (!IsKept(id)) return;
  ++counts_[id];
  while (counts_.size() > max_ids_) Thin();
}

void IdCounts::Thin() {
  ++level_;
  absl::erase_if(counts_,
                 [this](const auto& entry) { return !IsKept(entry.first); });
}

std::optional<double> IdCounts::TopShare(double share) const {
  if (!exact() || counts_.empty()) return std::nullopt;
  std::vector<uint64_t> counts;
  counts.reserve(counts_.size());
  for (const auto& [id, count] : counts_) counts.push_back(count);
  const size_t top = std::clamp<size_t>(
      static_cast<size_t>(static_cast<double>(counts.size()) * share), 1,
      counts.size());
  std::nth_element(counts.begin(), counts.begin() + (top - 1), counts.end(),
                   std::greater<>());
  const uint64_t sum =
      std::accumulate(counts.begin(), counts.begin() + top, uint64_t{0});
  return static_cast<double>(sum) / static_cast<double>(added_);
}

}  // namespace shoal
