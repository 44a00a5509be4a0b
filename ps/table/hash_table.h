#ifndef SHOAL_PS_TABLE_HASH_TABLE_H_
#define SHOAL_PS_TABLE_HASH_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ids.h"
#include "core/model_spec.h"
#include "core/shard_map.h"
#include "ps/table/embedding_table.h"
#include "ps/table/hash_index.h"
#include "ps/table/slab_arena.h"

namespace shoal {

// A dynamic table: any 64-bit id, found through a HashIndex; its record is a
// cell of a SlabArena. Locating an absent row for training gives it its cell
// and its entry in the index, counted against the row limit and the budget;
// into existence it comes, as every row, when it is first gathered or updated.
// A cell whose request was given up is used by the next request for the id.
// Thread-safe, as EmbeddingTable.
//
// At spec().row_limit rows an absent id that is to be trained is refused, or
// uses the shared row, by spec().when_full; with a shared row, once the table
// is full, absent ids read it in read-only pulls too. Which ids have rows of
// their own depends on who came first; what a row starts from does not.
class HashTable final : public EmbeddingTable {
 public:
  // Errors: INVALID_ARGUMENT (a partition by something else than hash),
  // RESOURCE_EXHAUSTED (no memory for the shared row). `budget` outlives the
  // table.
  static absl::StatusOr<std::unique_ptr<HashTable>> Create(
      const TableSpec& spec, uint64_t seed, const TablePartition& partition,
      int shard, MemoryBudget* budget);

  absl::Status CheckIds(absl::Span<const FeatureId> ids) const override;
  absl::Status Locate(absl::Span<const FeatureId> ids, bool read_only,
                      RowRefs* refs) override;
  void ForEachRecord(
      absl::FunctionRef<void(FeatureId, RecordHeader*)> visit) const override;
  void ForEachRecordInOrder(
      absl::FunctionRef<void(FeatureId, RecordHeader*)> visit) const override;

 private:
  HashTable(const TableSpec& spec, uint64_t seed,
            const TablePartition& partition, int shard, MemoryBudget* budget);

  absl::Status MakeSharedRow();
  // Gives the rows refs->absent their cells, or the shared row to those that
  // find no room.
  absl::Status GiveCells(absl::Span<const FeatureId> ids, RowRefs* refs);
  // How many of `wanted` more rows the limit allows: all, or fewer where the
  // table shares; they are counted.
  absl::StatusOr<size_t> TakeRoom(size_t wanted);
  // Memory for refs->absent_ids: bytes, refs->cells, room in the index.
  absl::Status ReserveMemory(RowRefs* refs);
  // The shared row for those of refs->absent from `first` on that nobody has
  // given a row of their own meanwhile.
  void ShareUnlessFound(absl::Span<const FeatureId> ids, size_t first,
                        RowRefs* refs) const;
  void Share(absl::Span<const uint32_t> positions, RowRefs* refs) const;

  const TablePartition partition_;
  const int shard_;
  SlabArena arena_;  // thread-safe
  HashIndex index_;  // thread-safe
  // Cells in use, or promised to a Locate in progress; the shared row's is not
  // counted.
  std::atomic<uint64_t> cells_{0};
};

}  // namespace shoal

#endif  // SHOAL_PS_TABLE_HASH_TABLE_H_
