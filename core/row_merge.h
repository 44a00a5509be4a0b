#ifndef SHOAL_CORE_ROW_MERGE_H_
#define SHOAL_CORE_ROW_MERGE_H_

#include <vector>

#include "absl/types/span.h"
#include "base/aligned_buffer.h"
#include "core/ids.h"
#include "core/unique_ids.h"

namespace shoal {

// The gradients of one rank for rows of one table. The caller owns the memory.
struct RowGradients {
  absl::Span<const FeatureId> ids;  // distinct
  absl::Span<const float> rows;     // ids.size() × row_dim, in the order of ids
};

// The gradients of several ranks for rows of one table, merged: each id once,
// with the sum of its rows.
//
//   RowMerge merge;  // kept for the next step, with its memory
//   merge.Build(row_dim, {{ids_0, rows_0}, {ids_1, rows_1}});  // by rank
//   for (size_t i = 0; i < merge.ids().size(); ++i) {
//     Use(merge.ids()[i], merge.rows().subspan(i * row_dim, row_dim));
//   }
//
// Let g_a, g_b, g_c … be the rows of an id in the order of the ranks that have
// the id. Then, in float32 and for each element alone,
//
//   sum = ((g_a + g_b) + g_c) + …
//
// The order of float32 additions decides the bits of the sum. So all modes of
// training merge rows with this class and name the ranks in the same order,
// from rank 0 on. A sum begins with the row g_a itself, not with 0: the row of
// one rank keeps its bits, also those of −0.0, which 0 + −0.0 would lose.
//
// The merge divides nothing: its rows have the unit of the ranks' rows. It does
// not check values: the sum of finite rows may be infinite. The expected time
// is O(ids × row_dim), for the ids of all ranks. The memory, at most 104 bytes
// for each id of a rank and 4 × row_dim bytes for each distinct id, is kept
// between builds. Thread-compatible.
class RowMerge {
 public:
  // Overwrites the results below. Ranks without a row may be left out: the
  // results are the same. The spans are read during the call only. REQUIRES:
  // row_dim >= 1; the ids of each rank are distinct; rows have the size given
  // above, and are not the memory of this merge; fewer than 2^31 ids in all.
  void Build(int row_dim, absl::Span<const RowGradients> ranks);

  // The distinct ids, U of them, in order of first occurrence: those of rank 0,
  // then those that rank 1 adds, and so on.
  absl::Span<const FeatureId> ids() const { return unique_.distinct(); }
  // U × row_dim: the sums, in the order of ids(). The memory is the merge's,
  // until the next Build; the caller may change the values, for example divide
  // them.
  absl::Span<float> rows() { return rows_.span(); }
  absl::Span<const float> rows() const { return rows_.span(); }

 private:
  std::vector<FeatureId> all_ids_;  // the ids of all ranks, one after the other
  UniqueIds unique_;                // of all_ids_
  AlignedBuffer<float> rows_;
};

}  // namespace shoal

#endif  // SHOAL_CORE_ROW_MERGE_H_
