#ifndef SHOAL_CORE_UNIQUE_IDS_H_
#define SHOAL_CORE_UNIQUE_IDS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "core/ids.h"

namespace shoal {

// The distinct ids of a list and, for each occurrence of an id, its index
// among the distinct ids. Open addressing with linear probing; cells carry the
// number of the build that wrote them, so nothing is cleared between builds.
// The expected time is O(ids). The memory, 16 bytes per cell at a load of at
// most one half, is kept between builds. Thread-compatible.
class UniqueIds {
 public:
  // Overwrites the results below. REQUIRES: ids.size() < 2^31.
  void Build(absl::Span<const FeatureId> ids);

  // The distinct ids, in order of first occurrence.
  const std::vector<FeatureId>& distinct() const { return distinct_; }
  // distinct()[inverse()[i]] == ids[i].
  const std::vector<uint32_t>& inverse() const { return inverse_; }

 private:
  struct Cell {
    FeatureId id;
    uint32_t build;  // 0: never used
    uint32_t index;  // into distinct_
  };

  void Grow(size_t ids);

  std::vector<Cell> cells_;  // a power of two of them
  int shift_ = 64;           // 64 - log2(cells_.size())
  uint32_t build_ = 0;
  std::vector<FeatureId> distinct_;
  std::vector<uint32_t> inverse_;
};

}  // namespace shoal

#endif  // SHOAL_CORE_UNIQUE_IDS_H_
