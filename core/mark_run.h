#ifndef SHOAL_CORE_MARK_RUN_H_
#define SHOAL_CORE_MARK_RUN_H_

#include <cstdint>

#include "core/mark.h"

namespace shoal {

// A shard keeps marks in chunks of up to 64 batches of one piece in one epoch,
// and not more of them than this: a bound against foreign clients, far above
// any job whose pieces are long (4 M chunks are 268 M batches). A job whose
// pieces, over its epochs, are more is refused at its start.
inline constexpr uint64_t kMaxMarkChunks = uint64_t{4} << 20;

// Marks of consecutive batches [begin, end) of one piece, with one verdict: a
// shard's marks as they are saved. A whole set is ascending by (epoch, piece,
// begin), without overlaps, and no two runs could be one.
struct MarkRun {
  uint32_t epoch = 0;
  uint32_t piece = 0;
  uint64_t begin = 0;
  uint64_t end = 0;  // at most 2^32
  Verdict verdict = Verdict::kApplied;

  friend bool operator==(const MarkRun&, const MarkRun&) = default;
};

// A whole set of marks in three numbers: equal for equal sets.
struct MarkTotals {
  uint64_t applied = 0;   // batches
  uint64_t rejected = 0;  // batches
  // Sum modulo 2^64 of a hash of (batch id, verdict).
  uint64_t digest = 0;

  friend bool operator==(const MarkTotals&, const MarkTotals&) = default;
};

}  // namespace shoal

#endif  // SHOAL_CORE_MARK_RUN_H_
