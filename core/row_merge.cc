#include "core/row_merge.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "core/add_floats.h"

namespace shoal {
namespace {

// The prefetch distance, in rows: far enough that a sum has arrived from memory
// when it is needed.
constexpr size_t kPrefetchDistance = 8;
constexpr size_t kFloatsOfCacheLine = 16;

void Prefetch(const float* row, size_t dim) {
  for (size_t k = 0; k < dim; k += kFloatsOfCacheLine) {
    __builtin_prefetch(row + k, 1);
  }
  __builtin_prefetch(row + dim - 1, 1);
}

// Adds the rows of one rank to `sums`, all of `dim` floats. position[i] is the
// place of row i among the sums. The first `begun` sums have a value; returns
// how many have one afterwards.
size_t AddRows(size_t dim, const RowGradients& rank, const uint32_t* position,
               size_t begun, float* sums) {
  const float* rows = rank.rows.data();
  const size_t count = rank.ids.size();
  size_t i = 0;
  while (i < count) {
    // Sums are in order of first occurrence, so ids that no earlier rank has
    // are neighbours there too.
    size_t fresh = 0;
    while (i + fresh < count && position[i + fresh] == begun + fresh) ++fresh;
    if (fresh > 0) {
      std::copy_n(rows + i * dim, fresh * dim, sums + begun * dim);
      begun += fresh;
      i += fresh;
      continue;
    }
    if (i + kPrefetchDistance < count) {
      Prefetch(sums + position[i + kPrefetchDistance] * dim, dim);
    }
    AddFloats(rows + i * dim, dim, sums + position[i] * dim);
    ++i;
  }
  return begun;
}

}  // namespace

void RowMerge::Build(int row_dim, absl::Span<const RowGradients> ranks) {
  SHOAL_DCHECK(row_dim >= 1);
  const size_t dim = row_dim;
  all_ids_.clear();
  for (const RowGradients& rank : ranks) {
    SHOAL_DCHECK(rank.rows.size() == rank.ids.size() * dim);
    all_ids_.insert(all_ids_.end(), rank.ids.begin(), rank.ids.end());
  }
  unique_.Build(all_ids_);
  rows_.ResizeDiscard(unique_.distinct().size() * dim);
  const uint32_t* position = unique_.inverse().data();
  size_t begun = 0;
  for (const RowGradients& rank : ranks) {
    begun = AddRows(dim, rank, position, begun, rows_.data());
    position += rank.ids.size();
  }
  SHOAL_DCHECK(begun == unique_.distinct().size());
}

}  // namespace shoal
