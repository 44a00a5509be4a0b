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

// A dynamic table, which takes any 64-bit id. A HashIndex finds the record of
// an id, and the record is a cell of a SlabArena. Locating an absent row for
// training gives the row its cell and its entry in the index, which count
// against the row limit and the budget. Like every row, it comes into existence
// when it is first gathered or updated. If the request is released instead, the
// next request for the id uses the cell. Thread-safe, as EmbeddingTable.
//
// At spec().row_limit rows, an absent id that is to be trained is refused or
// uses the shared row, as spec().when_full says. With a shared row, read-only
// pulls of absent ids read that row too once the table is full. Which ids have
// rows of their own depends on the order of arrival; the initial values of a
// row do not.
class HashTable final : public EmbeddingTable {
 public:
  // Errors: INVALID_ARGUMENT (the partition is not by hash), RESOURCE_EXHAUSTED
  // (no memory for the shared row). `budget` must outlive the table.
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
  // Gives the rows refs->absent their cells. Rows for which there is no room
  // get the shared row.
  absl::Status GiveCells(absl::Span<const FeatureId> ids, RowRefs* refs);
  // Returns how many of `wanted` more rows the limit allows, and counts them:
  // all, or fewer if the table has a shared row.
  absl::StatusOr<size_t> TakeRoom(size_t wanted);
  // Reserves memory for refs->absent_ids: bytes of the budget, refs->cells, and
  // room in the index.
  absl::Status ReserveMemory(RowRefs* refs);
  // Gives the shared row to the ids of refs->absent from `first` on, except to
  // ids that another thread has given a row of their own meanwhile.
  void ShareUnlessFound(absl::Span<const FeatureId> ids, size_t first,
                        RowRefs* refs) const;
  void Share(absl::Span<const uint32_t> positions, RowRefs* refs) const;

  const TablePartition partition_;
  const int shard_;
  SlabArena arena_;  // thread-safe
  HashIndex index_;  // thread-safe
  // The number of cells in use or promised to a Locate in progress, without the
  // shared row's cell.
  std::atomic<uint64_t> cells_{0};
};

}  // namespace shoal

#endif  // SHOAL_PS_TABLE_HASH_TABLE_H_
