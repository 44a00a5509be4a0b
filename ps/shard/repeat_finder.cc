#include "ps/shard/repeat_finder.h"

#include <bit>

#include "base/stable_hash.h"

namespace shoal {

size_t RepeatFinder::FirstRepeat(absl::Span<const FeatureId> ids) {
  size_t ascending = 1;
  while (ascending < ids.size() && ids[ascending - 1] < ids[ascending]) {
    ++ascending;
  }
  if (ascending >= ids.size()) return ids.size();

  const size_t need = std::bit_ceil(2 * ids.size());
  if (cells_.size() < need) cells_.assign(need, Cell{});
  const size_t mask = cells_.size() - 1;
  ++stamp_;
  for (size_t i = 0; i < ids.size(); ++i) {
    size_t at = StableHash(ids[i]) & mask;
    while (cells_[at].stamp == stamp_) {
      if (cells_[at].id == ids[i]) return i;
      at = (at + 1) & mask;
    }
    cells_[at] = Cell{ids[i], stamp_};
  }
  return ids.size();
}

}  // namespace shoal
