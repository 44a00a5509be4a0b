#include "core/unique_ids.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace shoal {
namespace {

// The prefetch distance: far enough that the cell has arrived from memory when
// it is needed.
constexpr size_t kPrefetchDistance = 16;

// Fibonacci hashing: the top bits of the product depend on all bits of the id.
size_t CellOf(FeatureId id, int shift) {
  return (id * 0x9e3779b97f4a7c15ull) >> shift;
}

}  // namespace

void UniqueIds::Grow(size_t ids) {
  const size_t cells = std::bit_ceil(std::max<size_t>(2 * ids, 16));
  if (cells <= cells_.size() && build_ != UINT32_MAX) return;
  cells_.assign(std::max(cells, cells_.size()), Cell{0, 0, 0});
  shift_ = 64 - std::countr_zero(cells_.size());
  build_ = 0;
}

void UniqueIds::Build(absl::Span<const FeatureId> ids) {
  SHOAL_DCHECK(ids.size() < size_t{1} << 31);
  Grow(ids.size());
  ++build_;
  distinct_.clear();
  inverse_.resize(ids.size());
  const size_t mask = cells_.size() - 1;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i + kPrefetchDistance < ids.size()) {
      __builtin_prefetch(&cells_[CellOf(ids[i + kPrefetchDistance], shift_)],
                         1);
    }
    const FeatureId id = ids[i];
    size_t at = CellOf(id, shift_);
    while (cells_[at].build == build_ && cells_[at].id != id) {
      at = (at + 1) & mask;
    }
    Cell& cell = cells_[at];
    if (cell.build != build_) {
      cell = {id, build_, static_cast<uint32_t>(distinct_.size())};
      distinct_.push_back(id);
    }
    inverse_[i] = cell.index;
  }
}

}  // namespace shoal
