#include "ps/table/hash_index.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

// The prefetch distance: far enough that the entry has arrived when it is
// needed.
constexpr size_t kPrefetchDistance = 32;
constexpr uint64_t kLog2Mask = 4095;  // arrays lie on page boundaries
constexpr int kLog2Min = 6;

uint64_t MostUsed(uint64_t entries) { return entries / 8 * 5; }

}  // namespace

HashIndex::Entry* HashIndex::EntriesOf(uint64_t array) {
  return reinterpret_cast<Entry*>(array & ~kLog2Mask);
}

uint64_t HashIndex::SizeOf(uint64_t array) {
  return array == 0 ? 0 : uint64_t{1} << (array & kLog2Mask);
}

uint64_t HashIndex::FirstOf(uint64_t array, uint64_t position) {
  return position >> (64 - (array & kLog2Mask));
}

uint64_t HashIndex::NextOf(uint64_t array, uint64_t first, uint64_t at) {
  constexpr uint64_t kInLine = kEntriesOfLine - 1;
  const uint64_t next = (at & ~kInLine) | ((at + 1) & kInLine);
  if (((next ^ first) & kInLine) != 0) return next;
  return (next + kInLine + 1) & (SizeOf(array) - 1);  // the whole line is read
}

RecordHeader* HashIndex::Probe(uint64_t array, FeatureId id,
                               uint64_t position) {
  if (array == 0) return nullptr;
  Entry* entries = EntriesOf(array);
  const uint64_t first = FirstOf(array, position);
  for (uint64_t at = first;; at = NextOf(array, first, at)) {
    std::atomic_ref<RecordHeader*> record(entries[at].record);
    RecordHeader* const found = record.load(std::memory_order_acquire);
    if (found == nullptr) return nullptr;
    if (std::atomic_ref<FeatureId>(entries[at].id)
            .load(std::memory_order_acquire) != id) {
      continue;
    }
    // The array may have been cleared between the reads of the two words, which
    // would give id 0 the record of another row.
    return record.load(std::memory_order_relaxed);
  }
}

RecordHeader* HashIndex::FindOne(FeatureId id, const Place& place) const {
  const std::atomic<uint64_t>& in_force = segments_[place.segment].array;
  uint64_t array = in_force.load(std::memory_order_acquire);
  for (;;) {
    RecordHeader* const found = Probe(array, id, place.position);
    if (found != nullptr) return found;
    const uint64_t now = in_force.load(std::memory_order_acquire);
    if (now == array) return nullptr;
    array = now;
  }
}

void HashIndex::Find(absl::Span<const FeatureId> ids,
                     absl::Span<RecordHeader*> records) const {
  SHOAL_DCHECK(ids.size() == records.size());
  Place places[kPrefetchDistance];  // of the prefetched ids, as a ring
  const auto ask = [&](size_t i) {
    const Place place = PlaceOf(ids[i]);
    places[i % kPrefetchDistance] = place;
    const uint64_t array =
        segments_[place.segment].array.load(std::memory_order_acquire);
    if (array != 0) {
      __builtin_prefetch(EntriesOf(array) + FirstOf(array, place.position));
    }
  };
  const size_t n = ids.size();
  for (size_t i = 0; i < std::min(n, kPrefetchDistance); ++i) ask(i);
  for (size_t i = 0; i < n; ++i) {
    records[i] = FindOne(ids[i], places[i % kPrefetchDistance]);
    if (i + kPrefetchDistance < n) ask(i + kPrefetchDistance);
  }
}

void HashIndex::Put(uint64_t array, FeatureId id, uint64_t position,
                    RecordHeader* record) {
  Entry* entries = EntriesOf(array);
  const uint64_t first = FirstOf(array, position);
  uint64_t at = first;
  while (std::atomic_ref<RecordHeader*>(entries[at].record)
             .load(std::memory_order_relaxed) != nullptr) {
    at = NextOf(array, first, at);
  }
  std::atomic_ref<FeatureId>(entries[at].id)
      .store(id, std::memory_order_relaxed);
  std::atomic_ref<RecordHeader*>(entries[at].record)
      .store(record, std::memory_order_release);
}

absl::Status HashIndex::Grow(Segment& segment, size_t used) {
  int log2 = kLog2Min;
  while (MostUsed(uint64_t{1} << log2) < used) ++log2;
  const uint64_t bytes = sizeof(Entry) << log2;
  if (!budget_->Reserve(bytes)) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the shard holds ", budget_->held(), " of max_bytes = ",
        budget_->limit(), ", and the index of new rows needs ", bytes,
        " more: raise the limit (--max_ps_bytes) or use more shards"));
  }
  absl::StatusOr<ReservedMemory> memory = ReservedMemory::Create(bytes);
  if (!memory.ok()) {
    budget_->Release(bytes);
    return memory.status();
  }
  const uint64_t old = segment.array.load(std::memory_order_relaxed);
  const uint64_t array =
      reinterpret_cast<uint64_t>(memory->data()) | static_cast<uint64_t>(log2);
  for (uint64_t i = 0; i < SizeOf(old); ++i) {
    const Entry& entry = EntriesOf(old)[i];
    if (entry.record == nullptr) continue;
    Put(array, entry.id, PlaceOf(entry.id).position, entry.record);
  }
  segment.array.store(array, std::memory_order_release);
  if (old != 0) {
    segment.arrays.back().Clear();
    budget_->Release(SizeOf(old) * sizeof(Entry));
  }
  segment.arrays.push_back(*std::move(memory));
  return absl::OkStatus();
}

absl::Status HashIndex::Reserve(absl::Span<const FeatureId> ids) {
  std::array<size_t, kSegments> wanted{};
  for (const FeatureId id : ids) ++wanted[PlaceOf(id).segment];
  for (size_t s = 0; s < kSegments; ++s) {
    if (wanted[s] == 0) continue;
    absl::Status status;
    {
      Segment& segment = segments_[s];
      MutexLock lock(&segment.mu);
      const size_t used = segment.used + wanted[s];
      const uint64_t array = segment.array.load(std::memory_order_relaxed);
      if (used > MostUsed(SizeOf(array))) status = Grow(segment, used);
      if (status.ok()) segment.used = used;
    }
    if (status.ok()) continue;
    while (s-- > 0) {
      MutexLock lock(&segments_[s].mu);
      segments_[s].used -= wanted[s];
    }
    return status;
  }
  return absl::OkStatus();
}

RecordHeader* HashIndex::Insert(FeatureId id, RecordHeader* record) {
  const Place place = PlaceOf(id);
  Segment& segment = segments_[place.segment];
  MutexLock lock(&segment.mu);
  SHOAL_DCHECK(segment.used > 0);
  const uint64_t array = segment.array.load(std::memory_order_relaxed);
  RecordHeader* const found = Probe(array, id, place.position);
  if (found != nullptr) {
    --segment.used;
    return found;
  }
  Put(array, id, place.position, record);
  return record;
}

void HashIndex::ForEach(
    absl::FunctionRef<void(FeatureId, RecordHeader*)> visit) const {
  for (const Segment& segment : segments_) {
    MutexLock lock(&segment.mu);
    const uint64_t array = segment.array.load(std::memory_order_relaxed);
    for (uint64_t i = 0; i < SizeOf(array); ++i) {
      const Entry& entry = EntriesOf(array)[i];
      if (entry.record != nullptr) visit(entry.id, entry.record);
    }
  }
}

void HashIndex::ForEachInOrder(
    absl::FunctionRef<void(FeatureId, RecordHeader*)> visit) const {
  std::vector<Entry> entries;
  for (const Segment& segment : segments_) {
    entries.clear();
    {
      MutexLock lock(&segment.mu);
      const uint64_t array = segment.array.load(std::memory_order_relaxed);
      for (uint64_t i = 0; i < SizeOf(array); ++i) {
        const Entry& entry = EntriesOf(array)[i];
        if (entry.record != nullptr) entries.push_back(entry);
      }
    }
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.id < b.id; });
    for (size_t i = 0; i < entries.size(); ++i) {
      if (i + kPrefetchDistance < entries.size()) {
        __builtin_prefetch(entries[i + kPrefetchDistance].record, 1);
      }
      visit(entries[i].id, entries[i].record);
    }
  }
}

uint64_t HashIndex::LongestProbe() const {
  uint64_t longest = 0;
  for (const Segment& segment : segments_) {
    MutexLock lock(&segment.mu);
    const uint64_t array = segment.array.load(std::memory_order_relaxed);
    const uint64_t lines = SizeOf(array) / kEntriesOfLine;
    for (uint64_t i = 0; i < SizeOf(array); ++i) {
      const Entry& entry = EntriesOf(array)[i];
      if (entry.record == nullptr) continue;
      const uint64_t first = FirstOf(array, PlaceOf(entry.id).position);
      const uint64_t passed = i / kEntriesOfLine - first / kEntriesOfLine;
      longest = std::max(longest, (passed & (lines - 1)) + 1);
    }
  }
  return longest;
}

}  // namespace shoal
