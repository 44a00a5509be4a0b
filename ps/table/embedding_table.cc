#include "ps/table/embedding_table.h"

#include <algorithm>
#include <cstring>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/saturating.h"
#include "base/stable_hash.h"
#include "base/status_macros.h"
#include "partitioner/table_partition.h"
#include "ps/table/array_table.h"
#include "ps/table/element_digest.h"
#include "ps/table/hash_table.h"
#include "ps/table/initial_value.h"
#include "ps/table/row_lock.h"
#include "ps/table/row_visit.h"

namespace shoal {
namespace {

float* Floats(RecordHeader* record) {
  return reinterpret_cast<float*>(record + 1);
}

// The first element of row `id` in a column.
absl::uint128 FirstElement(FeatureId id, const ColumnLayout& column) {
  return absl::uint128(id) * static_cast<uint64_t>(column.dim);
}

}  // namespace

EmbeddingTable::EmbeddingTable(const TableSpec& spec, uint64_t seed,
                               MemoryBudget* budget)
    : spec_(spec),
      layout_(spec),
      runs_(ColumnRuns(spec_, layout_)),
      budget_(budget) {
  for (const ColumnSpec& column : spec_.columns) {
    initial_keys_.push_back(InitialValueKey(seed, column.variable));
  }
}

bool EmbeddingTable::Exists(RecordHeader* record) {
  return std::atomic_ref<uint8_t>(record->flags)
             .load(std::memory_order_relaxed) &
         kRowExists;
}

absl::Status EmbeddingTable::OverBudget(uint64_t bytes) const {
  return absl::ResourceExhaustedError(absl::StrCat(
      "table '", spec_.name, "': the shard holds ", budget_->held(),
      " of max_bytes = ", budget_->limit(), ", and new rows need ", bytes,
      " more: raise the limit (--max_ps_bytes), use more shards or fewer "
      "feature ids"));
}

void EmbeddingTable::FillInitialRow(FeatureId id,
                                    absl::Span<float> weights) const {
  for (size_t c = 0; c < spec_.columns.size(); ++c) {
    const ColumnLayout& column = layout_.columns()[c];
    FillInitialValues(spec_.columns[c].initializer, initial_keys_[c],
                      FirstElement(id, column),
                      weights.subspan(column.weights, column.dim));
  }
}

void EmbeddingTable::CreateRow(FeatureId id, RecordHeader* record) {
  float* floats = Floats(record);
  FillInitialRow(id, absl::MakeSpan(floats, layout_.row_dim()));
  InitialiseRowSlots(floats);
  SetExists(record);
}

void EmbeddingTable::InitialiseRowSlots(float* floats) const {
  for (size_t c = 0; c < spec_.columns.size(); ++c) {
    const ColumnLayout& column = layout_.columns()[c];
    InitialiseSlots(spec_.columns[c].optimizer,
                    absl::MakeSpan(floats + column.slots, column.slot_count));
  }
}

void EmbeddingTable::SetExists(RecordHeader* record) {
  std::atomic_ref<uint8_t>(record->flags)
      .store(record->flags | kRowExists, std::memory_order_relaxed);
  rows_.fetch_add(1, std::memory_order_relaxed);
}

void EmbeddingTable::Settle(uint64_t created, RowRefs* refs) {
  if (refs->promised == 0) return;
  budget_->Release(refs->promised - created * layout_.stride());
  refs->promised = 0;
}

void EmbeddingTable::Gather(absl::Span<const FeatureId> ids, bool read_only,
                            RowRefs* refs, absl::Span<float> values) {
  const size_t dim = layout_.row_dim();
  SHOAL_DCHECK(refs->records.size() == ids.size());
  SHOAL_DCHECK(values.size() >= ids.size() * dim);
  const absl::Span<RecordHeader* const> records = refs->records;
  uint64_t created = 0;
  VisitLocked(
      records, layout_.read_bytes(),
      [&](size_t i) {
        RecordHeader* const record = records[i];
        if (record != nullptr && !(read_only && !Exists(record))) return true;
        // Check without the lock: locking writes to the record, which would
        // allocate memory for a row that was never written.
        FillInitialRow(RowOf(ids[i], record), values.subspan(i * dim, dim));
        return false;
      },
      [&](size_t i) {
        RecordHeader* const record = records[i];
        if (!Exists(record)) {
          CreateRow(RowOf(ids[i], record), record);
          ++created;
        }
        std::memcpy(values.data() + i * dim, Floats(record),
                    dim * sizeof(float));
      });
  Settle(created, refs);
}

bool EmbeddingTable::Update(absl::Span<const OptimizerStep> steps,
                            uint8_t colour, FeatureId id, RecordHeader* record,
                            const float* gradient) {
  const bool create = !Exists(record);
  if (create) CreateRow(id, record);
  float* floats = Floats(record);
  for (const ColumnRun& run : runs_) {
    steps[run.column].Apply(
        absl::MakeSpan(gradient + run.lies.weights, run.lies.dim),
        absl::MakeSpan(floats + run.lies.weights, run.lies.dim),
        absl::MakeSpan(floats + run.lies.slots, run.lies.slot_count));
  }
  record->colour = colour;
  return create;
}

void EmbeddingTable::Apply(absl::Span<const OptimizerStep> steps,
                           uint8_t colour, absl::Span<const FeatureId> ids,
                           RowRefs* refs, absl::Span<const float> gradients) {
  SHOAL_DCHECK(refs->records.size() == ids.size());
  SHOAL_DCHECK(gradients.size() == ids.size() * layout_.row_dim());
  SHOAL_DCHECK(steps.size() == spec_.columns.size());
  const size_t dim = layout_.row_dim();
  const absl::Span<RecordHeader* const> records = refs->records;
  uint64_t created = 0;
  VisitLocked(
      records, layout_.stride(),
      [&](size_t i) { return records[i] != shared_; },
      [&](size_t i) {
        created += Update(steps, colour, ids[i], records[i],
                          gradients.data() + i * dim);
      });
  if (!refs->shared.empty()) {
    std::vector<float> sum(dim);
    for (const uint32_t i : refs->shared) {
      for (size_t k = 0; k < dim; ++k) sum[k] += gradients[i * dim + k];
    }
    RowLock lock(shared_);
    created += Update(steps, colour, kSharedRow, shared_, sum.data());
  }
  Settle(created, refs);
}

void EmbeddingTable::ApplyToOthers(absl::Span<const OptimizerStep> steps,
                                   uint8_t colour, const RowRefs& refs) {
  SHOAL_DCHECK(steps.size() == spec_.columns.size());
  std::vector<const RecordHeader*> named(refs.records.begin(),
                                         refs.records.end());
  std::sort(named.begin(), named.end());
  const absl::Span<const ColumnLayout> columns = layout_.columns();
  const std::vector<float> zeros(layout_.row_dim());
  ForEachRecord([&](FeatureId, RecordHeader* record) {
    if (!Exists(record)) return;
    if (std::binary_search(named.begin(), named.end(), record)) return;
    RowLock lock(record);
    float* floats = Floats(record);
    for (size_t c = 0; c < columns.size(); ++c) {
      if (!steps[c].of_whole_table()) continue;
      const ColumnLayout& column = columns[c];
      steps[c].Apply(absl::MakeSpan(zeros.data(), column.dim),
                     absl::MakeSpan(floats + column.weights, column.dim),
                     absl::MakeSpan(floats + column.slots, column.slot_count));
    }
    record->colour = colour;
  });
}

void EmbeddingTable::ForEachRow(
    absl::FunctionRef<void(FeatureId, absl::Span<const float>)> visit) const {
  ForEachRecord([&](FeatureId id, RecordHeader* record) {
    if (!Exists(record)) return;
    RowLock lock(record);
    visit(id, absl::MakeConstSpan(Floats(record), layout_.row_dim()));
  });
}

void EmbeddingTable::ForEachSavedRow(
    absl::FunctionRef<void(FeatureId, absl::Span<const float>)> visit) const {
  const size_t floats = layout_.payload_bytes() / sizeof(float);
  ForEachRecordInOrder([&](FeatureId id, RecordHeader* record) {
    if (record == shared_ || !Exists(record)) return;
    RowLock lock(record);
    visit(id, absl::MakeConstSpan(Floats(record), floats));
  });
}

std::vector<float> EmbeddingTable::SharedRow() const {
  if (shared_ == nullptr || !Exists(shared_)) return {};
  RowLock lock(shared_);
  const float* floats = Floats(shared_);
  return std::vector<float>(floats,
                            floats + layout_.payload_bytes() / sizeof(float));
}

bool EmbeddingTable::RestoreRow(absl::Span<const RecordPart> parts,
                                absl::Span<const float* const> values,
                                size_t row, RecordHeader* record) {
  RowLock lock(record);
  float* floats = Floats(record);
  const bool create = !Exists(record);
  if (create) {
    InitialiseRowSlots(floats);
    SetExists(record);
  }
  for (size_t p = 0; p < parts.size(); ++p) {
    const size_t n = parts[p].floats;
    std::memcpy(floats + parts[p].first, values[p] + row * n,
                n * sizeof(float));
  }
  return create;
}

uint64_t EmbeddingTable::Restore(absl::Span<const RecordPart> parts,
                                 absl::Span<const float* const> values,
                                 RowRefs* refs) {
  SHOAL_DCHECK(refs->shared.empty() && values.size() == parts.size());
  uint64_t created = 0;
  for (size_t i = 0; i < refs->records.size(); ++i) {
    if (i + kPrefetchRows < refs->records.size()) {
      PrefetchRecord(refs->records[i + kPrefetchRows], layout_.stride());
    }
    created += RestoreRow(parts, values, i, refs->records[i]);
  }
  Settle(created, refs);
  return created;
}

void EmbeddingTable::RestoreSharedRow(absl::Span<const RecordPart> parts,
                                      absl::Span<const float* const> values) {
  SHOAL_DCHECK(HasSharedRow() && values.size() == parts.size());
  RestoreRow(parts, values, 0, shared_);
}

uint64_t EmbeddingTable::Digest() const {
  std::vector<uint64_t> names;
  for (const ColumnSpec& column : spec_.columns) {
    names.push_back(StableHash(column.variable));
  }
  uint64_t sum = 0;
  ForEachRow([&](FeatureId id, absl::Span<const float> weights) {
    for (size_t c = 0; c < names.size(); ++c) {
      const ColumnLayout& column = layout_.columns()[c];
      sum += ElementDigest(names[c], FirstElement(id, column),
                           weights.subspan(column.weights, column.dim));
    }
  });
  return sum;
}

std::optional<uint64_t> TableMemoryBytes(const TableSpec& spec,
                                         const TablePartition& partition,
                                         int shard) {
  const uint64_t record = RecordLayout(spec).stride();
  if (!spec.dynamic()) {
    return SaturatingTimes(RowsOnShard(partition, shard), record);
  }
  if (spec.row_limit == 0) return std::nullopt;
  return SaturatingTimes(spec.row_limit, record + HashIndex::kBytesOfEntry);
}

absl::StatusOr<std::unique_ptr<EmbeddingTable>> CreateEmbeddingTable(
    const TableSpec& spec, uint64_t seed, const TablePartition& partition,
    int shard, MemoryBudget* budget) {
  std::unique_ptr<EmbeddingTable> table;
  if (spec.dynamic()) {
    SHOAL_ASSIGN_OR_RETURN(
        table, HashTable::Create(spec, seed, partition, shard, budget));
  } else {
    SHOAL_ASSIGN_OR_RETURN(
        table, ArrayTable::Create(spec, seed, partition, shard, budget));
  }
  return table;
}

}  // namespace shoal
