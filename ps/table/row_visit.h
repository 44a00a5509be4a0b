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

// The number of records between a prefetch and the use: about one memory
// latency's worth of work.
inline constexpr size_t kPrefetchRows = 16;

// Prefetches the cache lines of the first `bytes` of a record. After the first
// lines of a longer record, the hardware's own prefetcher takes over. The
// function is always inlined, because gcc believes that a function that only
// prefetches has no effect, and drops calls of it.
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
// locked. The order is the order of i, except that rows that another thread
// holds come a little later. wants(i) is called first, once, without a lock;
// `bytes` of a record are used.
//
// A few rows are locked together, which lets the processor overlap their work:
// taking a lock waits until all earlier writes are in the cache. A visit waits
// for a row that another thread holds only while it holds no other row, so two
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
