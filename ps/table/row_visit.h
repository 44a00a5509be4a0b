#ifndef SHOAL_PS_TABLE_ROW_VISIT_H_
#define SHOAL_PS_TABLE_ROW_VISIT_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "ps/table/record_layout.h"
#include "ps/table/row_lock.h"

namespace shoal {

// How far ahead of their use records are asked for: about a memory latency's
// worth of work.
inline constexpr size_t kPrefetchRows = 16;

// Asks for the cache lines of the first `bytes` of a record. Longer records are
// left to the hardware's own prefetcher after the first lines. Inlined always:
// gcc takes a function that only prefetches for one without effect, and drops
// calls of it.
[[gnu::always_inline]] inline void PrefetchRecord(const RecordHeader* record,
                                                  size_t bytes) {
  constexpr uintptr_t kLine = 64;
  constexpr size_t kBytesMax = 8 * kLine;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(record);
  const uintptr_t end = begin + std::min(bytes, kBytesMax);
  for (uintptr_t at = begin & ~(kLine - 1); at < end; at += kLine) {
    __builtin_prefetch(reinterpret_cast<const char*>(at), 1);
  }
}

// Calls visit(i) once for every i whose wants(i) is true, with records[i]
// locked. The order is that of i, except that rows which somebody else holds
// come a little later. wants(i) is called first, once, without a lock; `bytes`
// of a record are used.
//
// A few rows are locked together, which lets the processor overlap their work:
// taking a lock waits until all that was written before it is in the cache. A
// row that somebody else holds is waited for when no other is held, so two
// visits, or a record that is named twice, cannot block each other.
template <typename Wants, typename Visit>
void VisitLocked(absl::Span<RecordHeader* const> records, size_t bytes,
                 const Wants& wants, const Visit& visit) {
  constexpr size_t kTogether = 8;
  for (size_t first = 0; first < records.size(); first += kTogether) {
    const size_t n = std::min(kTogether, records.size() - first);
    RecordHeader* const* const rows = records.data() + first;
    bool wanted[kTogether];
    bool held[kTogether];
    for (size_t k = 0; k < n; ++k) {
      if (first + k + kPrefetchRows < records.size()) {
        PrefetchRecord(rows[k + kPrefetchRows], bytes);
      }
      wanted[k] = wants(first + k);
    }
    for (size_t k = 0; k < n; ++k) {
      held[k] = wanted[k] && RowLock::Try(rows[k]);
    }
    for (size_t k = 0; k < n; ++k) {
      if (held[k]) visit(first + k);
    }
    for (size_t k = 0; k < n; ++k) {
      if (held[k]) RowLock::Free(rows[k]);
    }
    for (size_t k = 0; k < n; ++k) {
      if (!wanted[k] || held[k]) continue;
      RowLock lock(rows[k]);
      visit(first + k);
    }
  }
}

}  // namespace shoal

#endif  // SHOAL_PS_TABLE_ROW_VISIT_H_
