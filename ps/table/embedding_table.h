#ifndef SHOAL_PS_TABLE_EMBEDDING_TABLE_H_
#define SHOAL_PS_TABLE_EMBEDDING_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ids.h"
#include "core/model_spec.h"
#include "core/shard_map.h"
#include "ps/optimizer/optimizer_step.h"
#include "ps/table/memory_budget.h"
#include "ps/table/record_layout.h"
#include "ps/table/record_parts.h"

namespace shoal {

// The places of the rows of one request. Locate fills it; Gather, Apply or
// Release ends its use. The caller owns it and can use it again for the next
// request.
struct RowRefs {
  // By position in the request. nullptr if the row is absent and is not to be
  // created.
  std::vector<RecordHeader*> records;
  // Positions, ascending, of the ids that have no row of their own and use the
  // table's shared row.
  std::vector<uint32_t> shared;
  // Bytes reserved for the rows that may have to be created.
  uint64_t promised = 0;

  // Locate's scratch memory.
  std::vector<uint32_t> absent;
  std::vector<FeatureId> absent_ids;
  std::vector<RecordHeader*> cells;
};

// One shard's rows of an embedding table: records (record_layout.h) that never
// move. A row comes into existence at its first use by training, with initial
// values that depend on nothing but the row (initial_value.h). Implementations:
// ArrayTable, HashTable; CreateEmbeddingTable chooses one.
//
// The rows of a request are located once, which can fail, and then gathered or
// updated, which cannot fail. Virtual calls are made per request, not per row.
//
// Thread-safe: each row is read and updated under its own lock, so a read never
// sees half of an update, and concurrent updates of one row all count. Calls
// over many rows are not atomic as a whole.
class EmbeddingTable {
 public:
  virtual ~EmbeddingTable() = default;
  EmbeddingTable(const EmbeddingTable&) = delete;
  EmbeddingTable& operator=(const EmbeddingTable&) = delete;

  // INVALID_ARGUMENT, with the first wrong id, if an id does not belong to this
  // table and shard. `ids` may be any numbers.
  virtual absl::Status CheckIds(absl::Span<const FeatureId> ids) const = 0;

  // The methods below REQUIRE: CheckIds(ids) is OK; `refs` is the result of
  // Locate for the same `ids` and `read_only`.

  // Finds the rows. Unless read_only, reserves memory for the absent rows.
  // RESOURCE_EXHAUSTED (the memory budget, the row limit of a table that
  // refuses, no addresses) says what to do; then no row has come into
  // existence, and there is nothing to release.
  virtual absl::Status Locate(absl::Span<const FeatureId> ids, bool read_only,
                              RowRefs* refs) = 0;

  // Ends a located request without reading or updating its rows.
  void Release(RowRefs* refs) { Settle(/*created=*/0, refs); }

  // Copies the rows' weights to `values` (ids.size() × row_dim). Absent rows
  // are created; with read_only their initial values are computed but not
  // stored.
  void Gather(absl::Span<const FeatureId> ids, bool read_only, RowRefs* refs,
              absl::Span<float> values);

  // Updates the rows by their gradients (ids.size() × row_dim), after creating
  // the absent rows. `steps` has one step per column. `colour` is written to
  // the records. Ids that use the shared row update it once, by the sum of
  // their gradients. REQUIRES: ids are distinct and were not located read_only.
  void Apply(absl::Span<const OptimizerStep> steps, uint8_t colour,
             absl::Span<const FeatureId> ids, RowRefs* refs,
             absl::Span<const float> gradients);

  // The part of a push that L2 over the whole table adds to Apply
  // (L2Scope::kTable). Updates every row in existence that `refs` does not name
  // by a gradient of 0, in the columns whose step is of_whole_table(). The
  // other columns do not change. Reads the whole table. REQUIRES: refs are
  // located and still in use, or empty for a push without rows of this table.
  void ApplyToOthers(absl::Span<const OptimizerStep> steps, uint8_t colour,
                     const RowRefs& refs);

  const TableSpec& spec() const { return spec_; }
  const RecordLayout& layout() const { return layout_; }
  // The number of rows in existence, including the shared row.
  uint64_t rows() const { return rows_.load(std::memory_order_relaxed); }

  // Calls visit(id, weights) for every row in existence, in no particular
  // order. The row is locked meanwhile, so `visit` must not call the table.
  void ForEachRow(
      absl::FunctionRef<void(FeatureId, absl::Span<const float>)> visit) const;
  // The sum of ElementDigest over the rows in existence.
  uint64_t Digest() const;

  // ---- Saving and loading

  // Calls visit(id, floats) with weights and slots (record_layout.h) of every
  // row in existence except the shared row. The row is locked meanwhile, so
  // `visit` must not call the table. The order depends only on the ids, so that
  // equal tables are saved as equal files; the ids of an array ascend.
  void ForEachSavedRow(
      absl::FunctionRef<void(FeatureId, absl::Span<const float>)> visit) const;
  // The weights and slots of the shared row; empty if it is not in existence.
  std::vector<float> SharedRow() const;

  // Creates located rows with saved values: for part p, the parts[p].floats
  // floats of row i begin at values[p] + i * parts[p].floats. Slots that no
  // part contains get their initial values. Returns the number of rows that did
  // not exist before. REQUIRES: `refs` located for training, without ids that
  // use the shared row; the parts are some of RecordParts(spec()), including
  // all weights.
  uint64_t Restore(absl::Span<const RecordPart> parts,
                   absl::Span<const float* const> values, RowRefs* refs);
  // Same as Restore, for the shared row. REQUIRES: HasSharedRow().
  bool HasSharedRow() const { return shared_ != nullptr; }
  void RestoreSharedRow(absl::Span<const RecordPart> parts,
                        absl::Span<const float* const> values);

 protected:
  // The id that decides the shared row's initial values and its digest.
  static constexpr FeatureId kSharedRow = ~FeatureId{0};

  // `seed` is the model's seed. `budget` must outlive the table.
  EmbeddingTable(const TableSpec& spec, uint64_t seed, MemoryBudget* budget);

  // True if the row is in existence. Without the row's lock, false may be out
  // of date. True is always up to date, because rows never cease to exist.
  static bool Exists(RecordHeader* record);
  MemoryBudget* budget() const { return budget_; }
  // The RESOURCE_EXHAUSTED error of a request for `bytes` that the budget does
  // not have.
  absl::Status OverBudget(uint64_t bytes) const;
  // Calls `visit` for the record of every row in existence, and perhaps for
  // other records, unlocked and in no particular order. `visit` must not call
  // the table.
  virtual void ForEachRecord(
      absl::FunctionRef<void(FeatureId, RecordHeader*)> visit) const = 0;
  // Same as ForEachRecord, in an order that depends only on the ids.
  virtual void ForEachRecordInOrder(
      absl::FunctionRef<void(FeatureId, RecordHeader*)> visit) const = 0;

  // The record of the shared row if the table has one, else null. Set once.
  RecordHeader* shared_ = nullptr;

 private:
  FeatureId RowOf(FeatureId id, const RecordHeader* record) const {
    return record != nullptr && record == shared_ ? kSharedRow : id;
  }
  void FillInitialRow(FeatureId id, absl::Span<float> weights) const;
  // Gives an absent row its initial values. REQUIRES: the row's lock is held.
  void CreateRow(FeatureId id, RecordHeader* record);
  // Returns true if this call created the row. REQUIRES: the row's lock is
  // held.
  bool Update(absl::Span<const OptimizerStep> steps, uint8_t colour,
              FeatureId id, RecordHeader* record, const float* gradient);
  // Returns true if this call created the row.
  bool RestoreRow(absl::Span<const RecordPart> parts,
                  absl::Span<const float* const> values, size_t row,
                  RecordHeader* record);
  void InitialiseRowSlots(float* floats) const;
  void SetExists(RecordHeader* record);
  // Gives back the promised bytes that were not used.
  void Settle(uint64_t created, RowRefs* refs);

  const TableSpec spec_;
  const RecordLayout layout_;
  const std::vector<ColumnRun> runs_;
  std::vector<uint64_t> initial_keys_;  // by column
  MemoryBudget* const budget_;
  std::atomic<uint64_t> rows_{0};
};

// The most memory, in bytes, that a shard's rows of the table take, with the
// index of a dynamic table; nullopt if there is no bound.
std::optional<uint64_t> TableMemoryBytes(const TableSpec& spec,
                                         const TablePartition& partition,
                                         int shard);

// Creates an ArrayTable if the table has a feature_size, and a HashTable if
// not. Errors: INVALID_ARGUMENT (the partition does not fit),
// RESOURCE_EXHAUSTED (no addresses).
absl::StatusOr<std::unique_ptr<EmbeddingTable>> CreateEmbeddingTable(
    const TableSpec& spec, uint64_t seed, const TablePartition& partition,
    int shard, MemoryBudget* budget);

}  // namespace shoal

#endif  // SHOAL_PS_TABLE_EMBEDDING_TABLE_H_
