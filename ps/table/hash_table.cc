#include "ps/table/hash_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "partitioner/table_partition.h"

namespace shoal {

absl::StatusOr<std::unique_ptr<HashTable>> HashTable::Create(
    const TableSpec& spec, uint64_t seed, const TablePartition& partition,
    int shard, MemoryBudget* budget) {
  const PartitionKind kind =
      spec.on_every_shard ? PartitionKind::kEveryShard : PartitionKind::kHash;
  if (partition.kind != kind) {
    return absl::InvalidArgumentError(absl::StrCat(
        "table '", spec.name, "' is dynamic: it is placed by hash"));
  }
  auto table = std::unique_ptr<HashTable>(
      new HashTable(spec, seed, partition, shard, budget));
  if (spec.when_full == TableFull::kShare) {
    SHOAL_RETURN_IF_ERROR(table->MakeSharedRow());
  }
  return table;
}

HashTable::HashTable(const TableSpec& spec, uint64_t seed,
                     const TablePartition& partition, int shard,
                     MemoryBudget* budget)
    : EmbeddingTable(spec, seed, budget),
      partition_(partition),
      shard_(shard),
      arena_(layout().stride()),
      index_(budget) {}

absl::Status HashTable::MakeSharedRow() {
  if (!budget()->Reserve(layout().stride())) {
    return OverBudget(layout().stride());
  }
  std::vector<RecordHeader*> cells;
  SHOAL_RETURN_IF_ERROR(arena_.Take(1, &cells));
  shared_ = cells[0];
  return absl::OkStatus();
}

absl::Status HashTable::CheckIds(absl::Span<const FeatureId> ids) const {
  if (partition_.kind == PartitionKind::kEveryShard ||
      partition_.num_shards == 1) {
    return absl::OkStatus();
  }
  for (const FeatureId id : ids) {
    if (ShardOf(partition_, id) == shard_) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "table '", spec().name, "': id ", id, " belongs to another shard"));
  }
  return absl::OkStatus();
}

absl::Status HashTable::Locate(absl::Span<const FeatureId> ids, bool read_only,
                               RowRefs* refs) {
  refs->records.resize(ids.size());
  refs->shared.clear();
  refs->promised = 0;
  refs->absent.clear();
  index_.Find(ids, absl::MakeSpan(refs->records));
  for (size_t i = 0; i < ids.size(); ++i) {
    if (refs->records[i] == nullptr) refs->absent.push_back(i);
  }
  if (refs->absent.empty()) return absl::OkStatus();
  if (!read_only) return GiveCells(ids, refs);
  if (shared_ != nullptr &&
      cells_.load(std::memory_order_relaxed) >= spec().row_limit) {
    Share(refs->absent, refs);
  }
  return absl::OkStatus();
}

void HashTable::Share(absl::Span<const uint32_t> positions,
                      RowRefs* refs) const {
  for (const uint32_t i : positions) refs->records[i] = shared_;
  refs->shared.assign(positions.begin(), positions.end());
}

absl::StatusOr<size_t> HashTable::TakeRoom(size_t wanted) {
  const uint64_t limit = spec().row_limit;
  uint64_t cells = cells_.load(std::memory_order_relaxed);
  size_t granted = wanted;
  do {
    if (limit != 0) granted = std::min<uint64_t>(wanted, limit - cells);
    if (granted < wanted && shared_ == nullptr) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "table '", spec().name, "': shard ", shard_, " holds ", cells,
          " of at most ", limit, " rows, and ", wanted,
          " more are needed: raise --table_row_limit, use more shards, or let "
          "new ids share one row by --table_full=share"));
    }
  } while (!cells_.compare_exchange_weak(cells, cells + granted,
                                         std::memory_order_relaxed));
  return granted;
}

absl::Status HashTable::ReserveMemory(RowRefs* refs) {
  const uint64_t bytes = refs->absent_ids.size() * layout().stride();
  if (!budget()->Reserve(bytes)) return OverBudget(bytes);
  absl::Status status = arena_.Take(refs->absent_ids.size(), &refs->cells);
  if (status.ok()) {
    status = index_.Reserve(refs->absent_ids);
    if (!status.ok()) arena_.GiveBack(refs->cells);
  }
  if (status.ok()) return status;
  budget()->Release(bytes);
  return Annotate(status, absl::StrCat("table '", spec().name, "'"));
}

absl::Status HashTable::GiveCells(absl::Span<const FeatureId> ids,
                                  RowRefs* refs) {
  SHOAL_ASSIGN_OR_RETURN(const size_t granted, TakeRoom(refs->absent.size()));
  refs->absent_ids.clear();
  for (size_t k = 0; k < granted; ++k) {
    refs->absent_ids.push_back(ids[refs->absent[k]]);
  }
  const absl::Status reserved = ReserveMemory(refs);
  if (!reserved.ok()) {
    cells_.fetch_sub(granted, std::memory_order_relaxed);
    return reserved;
  }
  size_t unused = 0;  // cells whose ids other threads added first
  for (size_t k = 0; k < granted; ++k) {
    RecordHeader* const cell = refs->cells[k];
    RecordHeader* const record = index_.Insert(refs->absent_ids[k], cell);
    refs->records[refs->absent[k]] = record;
    if (record != cell) refs->cells[unused++] = cell;
  }
  arena_.GiveBack(absl::MakeConstSpan(refs->cells).first(unused));
  budget()->Release(unused * layout().stride());
  cells_.fetch_sub(unused, std::memory_order_relaxed);
  ShareUnlessFound(ids, granted, refs);
  return absl::OkStatus();
}

void HashTable::ShareUnlessFound(absl::Span<const FeatureId> ids, size_t first,
                                 RowRefs* refs) const {
  refs->absent.erase(refs->absent.begin(), refs->absent.begin() + first);
  refs->absent_ids.clear();
  for (const uint32_t i : refs->absent) refs->absent_ids.push_back(ids[i]);
  refs->cells.resize(refs->absent.size());
  index_.Find(refs->absent_ids, absl::MakeSpan(refs->cells));
  size_t still_absent = 0;
  for (size_t k = 0; k < refs->absent.size(); ++k) {
    const uint32_t i = refs->absent[k];
    refs->records[i] = refs->cells[k];
    if (refs->cells[k] == nullptr) refs->absent[still_absent++] = i;
  }
  Share(absl::MakeConstSpan(refs->absent).first(still_absent), refs);
}

void HashTable::ForEachRecord(
    absl::FunctionRef<void(FeatureId, RecordHeader*)> visit) const {
  index_.ForEach(visit);
  if (shared_ != nullptr) visit(kSharedRow, shared_);
}

void HashTable::ForEachRecordInOrder(
    absl::FunctionRef<void(FeatureId, RecordHeader*)> visit) const {
  index_.ForEachInOrder(visit);
  if (shared_ != nullptr) visit(kSharedRow, shared_);
}

}  // namespace shoal
