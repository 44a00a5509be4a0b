#ifndef SHOAL_CORE_MARK_RUN_H_
#define SHOAL_CORE_MARK_RUN_H_

#include <cstdint>

#include "core/mark.h"

namespace shoal {

// The most chunks of marks of one shard. A chunk holds the marks of up to 64
// batches of one piece in one epoch. The limit protects the shard against
// foreign clients and is far above any job with long pieces (4 M chunks are 268
// M batches). A job whose pieces, times its epochs, are more than this is
// refused at its start.
inline constexpr uint64_t kMaxMarkChunks = uint64_t{4} << 20;

// The marks of consecutive batches [begin, end) of one piece that have the same
// verdict: the form in which a shard's marks are saved. A whole set of runs is
// ascending by (epoch, piece, begin), without overlaps, and neighbouring runs
// are merged.
struct MarkRun {
  uint32_t epoch = 0;
  uint32_t piece = 0;
  uint64_t begin = 0;
  uint64_t end = 0;  // at most 2^32
  Verdict verdict = Verdict::kApplied;

  friend bool operator==(const MarkRun&, const MarkRun&) = default;
};

// A whole set of marks in three numbers. Equal sets have equal totals.
struct MarkTotals {
  uint64_t applied = 0;   // batches
  uint64_t rejected = 0;  // batches
  // Sum modulo 2^64 of a hash of (batch id, verdict).
  uint64_t digest = 0;

  friend bool operator==(const MarkTotals&, const MarkTotals&) = default;
};

}  // namespace shoal

#endif  // SHOAL_CORE_MARK_RUN_H_
