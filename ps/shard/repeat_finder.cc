#include "ps/shard/repeat_finder.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/check.h"

namespace shoal {
namespace {

// The prefetch distance: far enough that the cell has arrived when it is
// needed.
constexpr size_t kAhead = 16;

}  // namespace

size_t RepeatFinder::FirstRepeat(absl::Span<const FeatureId> ids) {
  SHOAL_DCHECK(ids.size() <= std::numeric_limits<uint32_t>::max());
  passed_over_ = 0;
  size_t ascending = 1;
  while (ascending < ids.size() && ids[ascending - 1] < ids[ascending]) {
    ++ascending;
  }
  if (ascending >= ids.size()) return ids.size();

  const size_t need = std::bit_ceil(2 * ids.size());
  if (cells_.size() < need || stamp_ == UINT32_MAX) {
    cells_.assign(std::max(need, cells_.size()), Cell{});
    stamp_ = 0;
  }
  const size_t mask = cells_.size() - 1;
  const int shift = 64 - std::countr_zero(cells_.size());
  ++stamp_;
  size_t homes[kAhead];  // of the prefetched ids, as a ring
  const auto ask = [&](size_t i) {
    homes[i % kAhead] = hash_(ids[i]) >> shift;
    __builtin_prefetch(&cells_[homes[i % kAhead]], 1);
  };
  for (size_t i = 0; i < std::min(ids.size(), kAhead); ++i) ask(i);
  for (size_t i = 0; i < ids.size(); ++i) {
    size_t at = homes[i % kAhead];
    if (i + kAhead < ids.size()) ask(i + kAhead);
    while (cells_[at].stamp == stamp_) {
      if (ids[cells_[at].index] == ids[i]) return i;
      at = (at + 1) & mask;
      ++passed_over_;
    }
    cells_[at] = Cell{static_cast<uint32_t>(i), stamp_};
  }
  return ids.size();
}

}  // namespace shoal
