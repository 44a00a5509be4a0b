#ifndef SHOAL_PS_TABLE_HASH_INDEX_H_
#define SHOAL_PS_TABLE_HASH_INDEX_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/keyed_hash.h"
#include "base/mutex.h"
#include "core/ids.h"
#include "ps/table/memory_budget.h"
#include "ps/table/record_layout.h"
#include "ps/table/reserved_memory.h"

namespace shoal {

// A map from feature id to record. Ids are added and never removed.
//
// The index is 64 segments, chosen by a multiple of the id; each is an array of
// entries (id, record), at most 5/8 full. A hash under a key of this process
// decides where the probe of an id begins, so that an attacker cannot choose
// ids whose probes begin at the same place. The probe goes through all entries
// of that cache line, then of the next line, and so on: nearly always one cache
// miss. Each segment grows by itself: its entries are copied to an array of
// twice the length, under the segment's lock. Thread-safe: readers take no lock
// and never wait; an Insert into a growing segment waits until it has grown.
//
// A reader may still probe an array that was replaced. The memory of that array
// is given back at once, but its addresses are kept. So the reader finds either
// an entry, which stays right for ever, or zeros, which end its probe as an
// empty entry does. A reader that found nothing checks whether the array is
// still the one in force.
class HashIndex {
 public:
  // Arrays are counted against `budget`, which must outlive the index.
  explicit HashIndex(MemoryBudget* budget,
                     const KeyedHash& hash = KeyedHash::Random())
      : budget_(budget), hash_(hash) {}
  HashIndex(const HashIndex&) = delete;
  HashIndex& operator=(const HashIndex&) = delete;

  // records[i] = the record of ids[i], or nullptr. REQUIRES: equal sizes.
  void Find(absl::Span<const FeatureId> ids,
            absl::Span<RecordHeader*> records) const;

  // Makes room for one Insert of each id. RESOURCE_EXHAUSTED if the budget is
  // used up or there are no addresses; then no room was made.
  absl::Status Reserve(absl::Span<const FeatureId> ids);

  // Uses one reservation of `id`. Adds the id with `record` and returns
  // `record`; or, if another thread has added the id, returns that thread's
  // record. Every thread that finds the record sees its memory as it was at the
  // Insert. REQUIRES: `id` is reserved.
  RecordHeader* Insert(FeatureId id, RecordHeader* record);

  // Calls visit(id, record) for every entry, in an order that depends on the
  // key. `visit` must not call the index.
  void ForEach(absl::FunctionRef<void(FeatureId, RecordHeader*)> visit) const;
  // Same as ForEach, in an order that depends only on the ids: by segment, and
  // ascending in each segment. Copies and sorts the entries of one segment at a
  // time.
  void ForEachInOrder(
      absl::FunctionRef<void(FeatureId, RecordHeader*)> visit) const;

  // The memory of an index per entry, in bytes, if it is half full (an
  // estimate).
  static constexpr uint64_t kBytesOfEntry =
      2 * (sizeof(FeatureId) + sizeof(RecordHeader*));

  // The largest number of cache lines that the probe of an entry reads.
  uint64_t LongestProbe() const;

 private:
  static constexpr int kSegmentBits = 6;
  static constexpr size_t kSegments = size_t{1} << kSegmentBits;

  // An entry is written once: the id, then the record, which makes it valid.
  struct Entry {
    FeatureId id;
    RecordHeader* record;  // nullptr: empty
  };
  static constexpr uint64_t kEntriesOfLine = 64 / sizeof(Entry);
  struct alignas(64) Segment {
    // The array in force: its address (of a page) plus log2 of its entries; 0
    // if there is no array yet.
    std::atomic<uint64_t> array{0};
    mutable Mutex mu;
    size_t used ABSL_GUARDED_BY(mu) = 0;  // entries, including reserved ones
    // All arrays so far. The last one is in force; the others are cleared.
    std::vector<ReservedMemory> arrays ABSL_GUARDED_BY(mu);
  };

  // The place of an id: the number of its segment and, in the top bits of
  // `position`, the start of its probe.
  struct Place {
    size_t segment;
    uint64_t position;
  };
  Place PlaceOf(FeatureId id) const {
    // Fibonacci hashing: the top bits depend on all bits of the id.
    return {(id * 0x9e3779b97f4a7c15ull) >> (64 - kSegmentBits), hash_(id)};
  }
  static Entry* EntriesOf(uint64_t array);
  static uint64_t SizeOf(uint64_t array);
  // The entry where the probe of an id begins, and the entry after `at`.
  static uint64_t FirstOf(uint64_t array, uint64_t position);
  static uint64_t NextOf(uint64_t array, uint64_t first, uint64_t at);
  static RecordHeader* Probe(uint64_t array, FeatureId id, uint64_t position);
  // Adds an absent id to an array that has room.
  static void Put(uint64_t array, FeatureId id, uint64_t position,
                  RecordHeader* record);

  RecordHeader* FindOne(FeatureId id, const Place& place) const;
  // Replaces the array with one that has room for `used` entries.
  absl::Status Grow(Segment& segment, size_t used)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(segment.mu);

  MemoryBudget* const budget_;
  const KeyedHash hash_;
  std::array<Segment, kSegments> segments_;
};

}  // namespace shoal

#endif  // SHOAL_PS_TABLE_HASH_INDEX_H_
