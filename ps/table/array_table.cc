#include "ps/table/array_table.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "partitioner/table_partition.h"
#include "ps/table/row_visit.h"

namespace shoal {
namespace {

uint64_t Slabs(uint64_t rows) {
  return (rows + kCellsPerSlab - 1) / kCellsPerSlab;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ArrayTable>> ArrayTable::Create(
    const TableSpec& spec, uint64_t seed, const TablePartition& partition,
    int shard, MemoryBudget* budget) {
  if (partition.kind != PartitionKind::kFixedSize &&
      partition.kind != PartitionKind::kMod) {
    return absl::InvalidArgumentError(
        absl::StrCat("table '", spec.name,
                     "' has a feature_size, so it is an array: place it by "
                     "fixed_size or mod"));
  }
  const uint64_t rows = RowsOnShard(partition, shard);
  const uint64_t stride = RecordLayout(spec).stride();
  if (rows > std::numeric_limits<uint64_t>::max() / stride) {
    return absl::ResourceExhaustedError(
        absl::StrCat("table '", spec.name, "' has ", rows, " rows of ", stride,
                     " bytes on one shard; use more shards"));
  }
  auto memory = ReservedMemory::Create(rows * stride);
  auto slabs_used = ReservedMemory::Create(Slabs(rows));
  for (const absl::Status& status : {memory.status(), slabs_used.status()}) {
    SHOAL_RETURN_IF_ERROR(
        Annotate(status, absl::StrCat("table '", spec.name, "'")));
  }
  return std::unique_ptr<ArrayTable>(
      new ArrayTable(spec, seed, partition, shard, rows, *std::move(memory),
                     *std::move(slabs_used), budget));
}

ArrayTable::ArrayTable(const TableSpec& spec, uint64_t seed,
                       const TablePartition& partition, int shard,
                       uint64_t rows_owned, ReservedMemory memory,
                       ReservedMemory slabs_used, MemoryBudget* budget)
    : EmbeddingTable(spec, seed, budget),
      contiguous_(partition.kind == PartitionKind::kFixedSize),
      first_(contiguous_ && rows_owned > 0 ? GlobalRow(partition, shard, 0)
                                           : 0),
      num_shards_(partition.num_shards),
      shard_(shard),
      rows_owned_(rows_owned),
      memory_(std::move(memory)),
      slabs_used_(std::move(slabs_used)) {}

absl::Status ArrayTable::CheckIds(absl::Span<const FeatureId> ids) const {
  for (const FeatureId id : ids) {
    if (Owns(id)) continue;
    if (id >= spec().feature_size) {
      return absl::InvalidArgumentError(
          absl::StrCat("table '", spec().name, "': id ", id,
                       " is not below feature_size ", spec().feature_size));
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "table '", spec().name, "': id ", id, " belongs to another shard"));
  }
  return absl::OkStatus();
}

absl::Status ArrayTable::Locate(absl::Span<const FeatureId> ids, bool read_only,
                                RowRefs* refs) {
  refs->records.resize(ids.size());
  refs->shared.clear();
  refs->promised = 0;
  if (read_only) {
    for (size_t i = 0; i < ids.size(); ++i) {
      refs->records[i] = Record(LocalOf(ids[i]));
    }
    return absl::OkStatus();
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    const uint64_t local = LocalOf(ids[i]);
    refs->records[i] = Record(local);
    const std::atomic_ref<uint8_t> used = SlabUsed(local / kCellsPerSlab);
    if (used.load(std::memory_order_relaxed) == 0) {
      used.store(1, std::memory_order_relaxed);
    }
  }
  return Promise(refs);
}

absl::Status ArrayTable::Promise(RowRefs* refs) const {
  const std::vector<RecordHeader*>& records = refs->records;
  const uint64_t all = records.size() * layout().stride();
  // Far from the limit, no row has to be read.
  if (budget()->Reserve(all)) {
    refs->promised = all;
    return absl::OkStatus();
  }
  uint64_t absent = 0;
  for (size_t i = 0; i < records.size(); ++i) {
    if (i + kPrefetchRows < records.size()) {
      __builtin_prefetch(records[i + kPrefetchRows]);
    }
    absent += !Exists(records[i]);
  }
  const uint64_t bytes = absent * layout().stride();
  if (bytes != 0 && !budget()->Reserve(bytes)) return OverBudget(bytes);
  refs->promised = bytes;
  return absl::OkStatus();
}

void ArrayTable::ForEachRecord(
    absl::FunctionRef<void(FeatureId, RecordHeader*)> visit) const {
  for (uint64_t slab = 0; slab < Slabs(rows_owned_); ++slab) {
    if (SlabUsed(slab).load(std::memory_order_relaxed) == 0) continue;
    const uint64_t end = std::min(rows_owned_, (slab + 1) * kCellsPerSlab);
    for (uint64_t local = slab * kCellsPerSlab; local < end; ++local) {
      visit(IdOf(local), Record(local));
    }
  }
}

}  // namespace shoal
