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

// Where the rows of one request lie: filled by Locate, used up by Gather, Apply
// or Release. The caller's memory, to be used again for the next request.
struct RowRefs {
  // By position in the request. nullptr: the row is absent and stays so.
  std::vector<RecordHeader*> records;
  // Positions, ascending, whose ids have no row of their own and use the
  // table's shared row.
  std::vector<uint32_t> shared;
  // Bytes reserved for those of the rows that may have to be created.
  uint64_t promised = 0;

  // Scratch memory of Locate.
  std::vector<uint32_t> absent;
  std::vector<FeatureId> absent_ids;
  std::vector<RecordHeader*> cells;
};

// One shard's rows of an embedding table: records (record_layout.h) that never
// move. A row comes into existence at its first use by training, with initial
// values that depend on nothing but the row (initial_value.h). Implementations:
// ArrayTable, HashTable; CreateEmbeddingTable says which serves what.
//
// A request over many rows is located once, which can fail, and is then
// gathered or applied, which cannot: virtual calls are made for a request, not
// for a row.
//
// Thread-safe: each row is read and updated under its own lock, so a row is
// never torn and concurrent updates of one row all count. Calls over many rows
// are not atomic as a whole.
class EmbeddingTable {
 public:
  virtual ~EmbeddingTable() = default;
  EmbeddingTable(const EmbeddingTable&) = delete;
  EmbeddingTable& operator=(const EmbeddingTable&) = delete;

  // INVALID_ARGUMENT, naming the first, if an id is not of this table and
  // shard. Any ids.
  virtual absl::Status CheckIds(absl::Span<const FeatureId> ids) const = 0;

  // REQUIRES, below: CheckIds(ids) is OK; `refs` is what Locate made of these
  // ids with this `read_only`.

  // Finds the rows, and unless read_only reserves what the absent ones need.
  // RESOURCE_EXHAUSTED (the memory budget, the row limit of a table that
  // refuses, no addresses) says what to do: no row has come into existence, and
  // there is nothing to release.
  virtual absl::Status Locate(absl::Span<const FeatureId> ids, bool read_only,
                              RowRefs* refs) = 0;

  // Gives up a located request.
  void Release(RowRefs* refs) { Settle(/*created=*/0, refs); }

  // Copies the rows' weights to `values` (ids.size() × row_dim). Absent rows
  // are created, or with read_only their initial values computed and not
  // stored.
  void Gather(absl::Span<const FeatureId> ids, bool read_only, RowRefs* refs,
              absl::Span<float> values);

  // Updates the rows by their gradients (ids.size() × row_dim), creating absent
  // ones first. steps: one a column. `colour` is noted in the records. Ids that
  // use the shared row update it once, by the sum of their gradients.
  // REQUIRES: ids distinct, not located read_only.
  void Apply(absl::Span<const OptimizerStep> steps, uint8_t colour,
             absl::Span<const FeatureId> ids, RowRefs* refs,
             absl::Span<const float> gradients);

  // What a push does beside Apply where L2 is of the whole table
  // (L2Scope::kTable): updates every row in existence that `refs` does not name
  // by a gradient of 0, in the columns whose step is of the whole table. The
  // others stay. Reads the table. REQUIRES: refs located and not used up, or
  // empty for a push without rows of this table.
  void ApplyToOthers(absl::Span<const OptimizerStep> steps, uint8_t colour,
                     const RowRefs& refs);

  const TableSpec& spec() const { return spec_; }
  const RecordLayout& layout() const { return layout_; }
  // Rows in existence, the shared one among them.
  uint64_t rows() const { return rows_.load(std::memory_order_relaxed); }

  // Calls visit(id, weights) for every row in existence, in no order that means
  // anything, the row locked: it must not call the table. Reads them all.
  void ForEachRow(
      absl::FunctionRef<void(FeatureId, absl::Span<const float>)> visit) const;
  // The sum of ElementDigest over the rows in existence.
  uint64_t Digest() const;

  // ---- Saving and loading

  // Calls visit(id, floats) with weights and slots (record_layout.h) of every
  // row in existence but the shared one, locked: it must not call the table.
  // The order depends on the ids alone, so that equal tables are saved as equal
  // files; an array's ids ascend.
  void ForEachSavedRow(
      absl::FunctionRef<void(FeatureId, absl::Span<const float>)> visit) const;
  // Weights and slots of the shared row; empty if it is not in existence.
  std::vector<float> SharedRow() const;

  // Brings located rows into existence with saved values: of part p, row i has
  // parts[p].floats floats from values[p] + i * parts[p].floats on. Slots that
  // no part brings have their initial values. Returns how many of the rows did
  // not exist before. REQUIRES: `refs` located for training, without rows that
  // share; the parts are of RecordParts(spec()), all weights among them.
  uint64_t Restore(absl::Span<const RecordPart> parts,
                   absl::Span<const float* const> values, RowRefs* refs);
  // The same for the shared row. REQUIRES: HasSharedRow().
  bool HasSharedRow() const { return shared_ != nullptr; }
  void RestoreSharedRow(absl::Span<const RecordPart> parts,
                        absl::Span<const float* const> values);

 protected:
  // Under this id the shared row has its initial values and its digest.
  static constexpr FeatureId kSharedRow = ~FeatureId{0};

  // `seed`: the model's. `budget` outlives the table.
  EmbeddingTable(const TableSpec& spec, uint64_t seed, MemoryBudget* budget);

  // Whether the row is in existence. Without its lock the answer may be stale,
  // in one direction: rows never cease to exist.
  static bool Exists(RecordHeader* record);
  MemoryBudget* budget() const { return budget_; }
  // RESOURCE_EXHAUSTED for `bytes` more than the budget has.
  absl::Status OverBudget(uint64_t bytes) const;
  // Calls visit for the record of every row in existence, and perhaps of
  // others, not locked, in no order that means anything: it must not call the
  // table.
  virtual void ForEachRecord(
      absl::FunctionRef<void(FeatureId, RecordHeader*)> visit) const = 0;
  // The same in an order that depends on the ids alone.
  virtual void ForEachRecordInOrder(
      absl::FunctionRef<void(FeatureId, RecordHeader*)> visit) const = 0;

  // The record of the shared row, where the table has one; set once.
  RecordHeader* shared_ = nullptr;

 private:
  FeatureId RowOf(FeatureId id, const RecordHeader* record) const {
    return record != nullptr && record == shared_ ? kSharedRow : id;
  }
  void FillInitialRow(FeatureId id, absl::Span<float> weights) const;
  // Gives an absent row its initial values. REQUIRES: its lock held.
  void CreateRow(FeatureId id, RecordHeader* record);
  // Returns whether the row was created by this. REQUIRES: its lock held.
  bool Update(absl::Span<const OptimizerStep> steps, uint8_t colour,
              FeatureId id, RecordHeader* record, const float* gradient);
  // Returns whether the row was created by this.
  bool RestoreRow(absl::Span<const RecordPart> parts,
                  absl::Span<const float* const> values, size_t row,
                  RecordHeader* record);
  void InitialiseRowSlots(float* floats) const;
  void SetExists(RecordHeader* record);
  // Gives back what was promised and not used.
  void Settle(uint64_t created, RowRefs* refs);

  const TableSpec spec_;
  const RecordLayout layout_;
  const std::vector<ColumnRun> runs_;
  std::vector<uint64_t> initial_keys_;  // by column
  MemoryBudget* const budget_;
  std::atomic<uint64_t> rows_{0};
};

// What a shard's rows of the table, and the index of a dynamic one, take at
// most; nullopt where nothing bounds them.
std::optional<uint64_t> TableMemoryBytes(const TableSpec& spec,
                                         const TablePartition& partition,
                                         int shard);

// An array where the table has a feature_size, a hash table where it has not.
// Errors: INVALID_ARGUMENT (a partition that does not fit), RESOURCE_EXHAUSTED
// (no addresses).
absl::StatusOr<std::unique_ptr<EmbeddingTable>> CreateEmbeddingTable(
    const TableSpec& spec, uint64_t seed, const TablePartition& partition,
    int shard, MemoryBudget* budget);

}  // namespace shoal

#endif  // SHOAL_PS_TABLE_EMBEDDING_TABLE_H_
