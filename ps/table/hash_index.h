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

// From feature id to record. Ids are added and never removed.
//
// The index is 64 segments, chosen by a multiple of the id; each is an array of
// entries (id, record), at most 5/8 full. A hash under a key of this process
// says where the probe of an id begins, so that no ids can be chosen that begin
// alike; the probe goes round the entries of that cache line, then of the one
// after it, and so on: nearly always one miss. A segment grows alone: its
// entries are copied to an array of twice the length, under the segment's lock.
// Thread-safe: readers take no lock and are never stopped; an Insert into a
// growing segment waits for it.
//
// A reader may still probe the array that was replaced. Its memory is given
// back at once, its addresses are kept, so that the reader finds either an
// entry, which is right for ever, or zeros, which end its probe as an empty
// entry does; having found nothing it looks whether the array is still the one
// in force.
class HashIndex {
 public:
  // Arrays are counted against the budget, which outlives the index.
  explicit HashIndex(MemoryBudget* budget,
                     const KeyedHash& hash = KeyedHash::Random())
      : budget_(budget), hash_(hash) {}
  HashIndex(const HashIndex&) = delete;
  HashIndex& operator=(const HashIndex&) = delete;

  // records[i] = the record of ids[i], or nullptr. REQUIRES: equal sizes.
  void Find(absl::Span<const FeatureId> ids,
            absl::Span<RecordHeader*> records) const;

  // Makes room for one Insert of each id. RESOURCE_EXHAUSTED: the budget, or no
  // addresses; no room was made.
  absl::Status Reserve(absl::Span<const FeatureId> ids);

  // Uses up one reservation for `id`: adds it with `record` and returns that;
  // or returns the record of the id, where another thread has added one. The
  // record's memory is seen as it is now by every thread that finds it.
  // REQUIRES: reserved.
  RecordHeader* Insert(FeatureId id, RecordHeader* record);

  // Calls visit(id, record) for every entry, in an order that depends on the
  // key; it must not call the index.
  void ForEach(absl::FunctionRef<void(FeatureId, RecordHeader*)> visit) const;
  // The same in an order that depends on the ids alone: by segment, and in each
  // segment ascending. Copies and sorts a segment's entries at a time.
  void ForEachInOrder(
      absl::FunctionRef<void(FeatureId, RecordHeader*)> visit) const;

  // What an index takes of memory for each entry, about: it is half full.
  static constexpr uint64_t kBytesOfEntry =
      2 * (sizeof(FeatureId) + sizeof(RecordHeader*));

  // How many cache lines the probe of an entry reads at most.
  uint64_t LongestProbe() const;

 private:
  static constexpr int kSegmentBits = 6;
  static constexpr size_t kSegments = size_t{1} << kSegmentBits;

  // An entry is written once: the id, then the record, which makes it valid.
  struct Entry {
    FeatureId id;
    RecordHeader* record;  // nullptr: none
  };
  static constexpr uint64_t kEntriesOfLine = 64 / sizeof(Entry);
  struct alignas(64) Segment {
    // The array in force: its address (of a page) plus log2 of its entries; 0:
    // none yet.
    std::atomic<uint64_t> array{0};
    mutable Mutex mu;
    size_t used ABSL_GUARDED_BY(mu) = 0;  // entries, reserved ones too
    // All arrays there were; the last is in force, the others are cleared.
    std::vector<ReservedMemory> arrays ABSL_GUARDED_BY(mu);
  };

  // Where an id belongs: the number of its segment and, in the top bits of
  // `position`, where its probe begins.
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
  // Where the probe of an id begins, and what comes after `at`.
  static uint64_t FirstOf(uint64_t array, uint64_t position);
  static uint64_t NextOf(uint64_t array, uint64_t first, uint64_t at);
  static RecordHeader* Probe(uint64_t array, FeatureId id, uint64_t position);
  // Puts an absent id into an array with room.
  static void Put(uint64_t array, FeatureId id, uint64_t position,
                  RecordHeader* record);

  RecordHeader* FindOne(FeatureId id, const Place& place) const;
  // Replaces the array by one with room for `used` entries.
  absl::Status Grow(Segment& segment, size_t used)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(segment.mu);

  MemoryBudget* const budget_;
  const KeyedHash hash_;
  std::array<Segment, kSegments> segments_;
};

}  // namespace shoal

#endif  // SHOAL_PS_TABLE_HASH_INDEX_H_
