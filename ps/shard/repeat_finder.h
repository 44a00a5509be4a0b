#ifndef SHOAL_PS_SHARD_REPEAT_FINDER_H_
#define SHOAL_PS_SHARD_REPEAT_FINDER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "base/keyed_hash.h"
#include "core/ids.h"

namespace shoal {

// Finds repeated ids in a request, in O(ids) for any ids, without allocation
// after the first request of that length. Ascending ids take one comparison
// each. Memory: 16 to 32 bytes per id of the longest request.
// Thread-compatible.
class RepeatFinder {
 public:
  explicit RepeatFinder(const KeyedHash& hash = KeyedHash::Random())
      : hash_(hash) {}

  // Returns the index of the first id that equals an earlier id, or ids.size()
  // if there is no repeat. REQUIRES: ids.size() < 2^32.
  size_t FirstRepeat(absl::Span<const FeatureId> ids);
  // The number of cells of other ids that the last call passed over.
  uint64_t passed_over() const { return passed_over_; }

 private:
  struct Cell {
    uint32_t index = 0;  // the id's place in the request
    uint32_t stamp = 0;  // the request that wrote the cell
  };
  const KeyedHash hash_;
  std::vector<Cell> cells_;  // open addressing; a power of two
  uint32_t stamp_ = 0;
  uint64_t passed_over_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_REPEAT_FINDER_H_
