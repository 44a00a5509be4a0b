#include "ps/table/slab_arena.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "base/check.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

// The bytes of addresses that are reserved at once. It is large, so that a
// process that holds a terabyte needs few system calls and few mappings.
constexpr size_t kRangeBytes = size_t{64} << 20;

}  // namespace

SlabArena::SlabArena(size_t stride)
    : stride_(stride),
      slabs_of_range_(
          std::max<size_t>(1, kRangeBytes / (stride * kCellsPerSlab))) {
  SHOAL_DCHECK(stride % 16 == 0);
}

absl::Status SlabArena::Take(size_t n, std::vector<RecordHeader*>* cells) {
  cells->clear();
  cells->reserve(n);
  MutexLock lock(&mu_);
  const size_t again = std::min(n, returned_.size());
  const size_t range_cells = slabs_of_range_ * kCellsPerSlab;
  std::vector<ReservedMemory> fresh;
  // Reserve all addresses first, so that the rest cannot fail.
  while (left_ + fresh.size() * range_cells < n - again) {
    SHOAL_ASSIGN_OR_RETURN(ReservedMemory range,
                           ReservedMemory::Create(range_cells * stride_));
    fresh.push_back(std::move(range));
  }
  cells->insert(cells->end(), returned_.end() - again, returned_.end());
  returned_.resize(returned_.size() - again);
  auto next_range = fresh.begin();
  while (cells->size() < n) {
    if (left_ == 0) {
      ranges_.push_back(std::move(*next_range++));
      next_ = ranges_.back().data();
      left_ = range_cells;
    }
    cells->push_back(reinterpret_cast<RecordHeader*>(next_));
    next_ += stride_;
    --left_;
  }
  return absl::OkStatus();
}

void SlabArena::GiveBack(absl::Span<RecordHeader* const> cells) {
  if (cells.empty()) return;
  MutexLock lock(&mu_);
  returned_.insert(returned_.end(), cells.begin(), cells.end());
}

}  // namespace shoal
