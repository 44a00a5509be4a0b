#include "ps/table/array_table.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/stable_hash.h"
#include "base/status_macros.h"
#include "partitioner/table_partition.h"
#include "ps/table/element_digest.h"
#include "ps/table/initial_value.h"
#include "ps/table/row_lock.h"

namespace shoal {
namespace {

// Rows asked for ahead of their use: about a memory latency's worth of work.
constexpr size_t kPrefetchRows = 8;
constexpr size_t kCacheLine = 64;
// Longer records are left to the hardware's own prefetcher.
constexpr size_t kPrefetchBytesMax = 8 * kCacheLine;

uint64_t Slabs(uint64_t rows) {
  return (rows + kCellsPerSlab - 1) / kCellsPerSlab;
}

// Written under the row's lock, and read without it where a stale answer does
// no harm.
bool Exists(RecordHeader* header) {
  return std::atomic_ref<uint8_t>(header->flags)
             .load(std::memory_order_relaxed) &
         kRowExists;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ArrayTable>> ArrayTable::Create(
    const TableSpec& spec, uint64_t seed, const TablePartition& partition,
    int shard) {
  if (partition.kind == PartitionKind::kHash) {
    return absl::InvalidArgumentError(
        absl::StrCat("table '", spec.name,
                     "' is placed by hash, and a table with a feature_size is "
                     "an array: place it by fixed_size or mod"));
  }
  const uint64_t rows = RowsOnShard(partition, shard);
  const uint64_t stride = RecordLayout(spec).stride();
  if (rows > std::numeric_limits<uint64_t>::max() / stride) {
    return absl::ResourceExhaustedError(
        absl::StrCat("table '", spec.name, "' has ", rows, " rows of ", stride,
                     " bytes on one shard; use more shards"));
  }
  auto memory = ReservedMemory::Create(rows * stride);
  auto slab_rows = ReservedMemory::Create(Slabs(rows) * sizeof(uint32_t));
  for (const absl::Status& status : {memory.status(), slab_rows.status()}) {
    SHOAL_RETURN_IF_ERROR(
        Annotate(status, absl::StrCat("table '", spec.name, "'")));
  }
  return std::unique_ptr<ArrayTable>(
      new ArrayTable(spec, seed, partition, shard, rows, *std::move(memory),
                     *std::move(slab_rows)));
}

ArrayTable::ArrayTable(const TableSpec& spec, uint64_t seed,
                       const TablePartition& partition, int shard,
                       uint64_t rows_owned, ReservedMemory memory,
                       ReservedMemory slab_rows)
    : spec_(spec),
      layout_(spec),
      contiguous_(partition.kind == PartitionKind::kFixedSize),
      first_(contiguous_ && rows_owned > 0 ? GlobalRow(partition, shard, 0)
                                           : 0),
      num_shards_(partition.num_shards),
      shard_(shard),
      rows_owned_(rows_owned),
      memory_(std::move(memory)),
      slab_rows_(std::move(slab_rows)) {
  for (const ColumnSpec& column : spec_.columns) {
    initial_keys_.push_back(InitialValueKey(seed, column.variable));
  }
}

void ArrayTable::Prefetch(FeatureId id, size_t bytes) const {
  const char* record = reinterpret_cast<const char*>(Header(LocalOf(id)));
  for (size_t i = 0; i < std::min(bytes, kPrefetchBytesMax); i += kCacheLine) {
    __builtin_prefetch(record + i, 1);
  }
}

void ArrayTable::FillInitialRow(FeatureId id, absl::Span<float> weights) const {
  for (size_t c = 0; c < spec_.columns.size(); ++c) {
    const ColumnLayout& column = layout_.columns()[c];
    FillInitialValues(spec_.columns[c].initializer, initial_keys_[c],
                      id * static_cast<uint64_t>(column.dim),
                      weights.subspan(column.weights, column.dim));
  }
}

void ArrayTable::CreateRow(FeatureId id, uint64_t local, RecordHeader* header) {
  float* floats = Floats(header);
  FillInitialRow(id, absl::MakeSpan(floats, layout_.row_dim()));
  for (size_t c = 0; c < spec_.columns.size(); ++c) {
    const ColumnLayout& column = layout_.columns()[c];
    InitialiseSlots(spec_.columns[c].optimizer,
                    absl::MakeSpan(floats + column.slots, column.slot_count));
  }
  std::atomic_ref<uint8_t>(header->flags)
      .store(header->flags | kRowExists, std::memory_order_relaxed);
  rows_.fetch_add(1, std::memory_order_relaxed);
  SlabRows(local / kCellsPerSlab).fetch_add(1, std::memory_order_relaxed);
}

uint64_t ArrayTable::CountAbsent(absl::Span<const FeatureId> ids) const {
  uint64_t absent = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i + kPrefetchRows < ids.size()) {
      Prefetch(ids[i + kPrefetchRows], sizeof(RecordHeader));
    }
    if (!Exists(Header(LocalOf(ids[i])))) ++absent;
  }
  return absent;
}

uint64_t ArrayTable::Gather(absl::Span<const FeatureId> ids, bool read_only,
                            absl::Span<float> values) {
  const size_t dim = layout_.row_dim();
  const size_t touched = layout_.read_bytes();
  uint64_t created = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i + kPrefetchRows < ids.size()) {
      Prefetch(ids[i + kPrefetchRows], touched);
    }
    const uint64_t local = LocalOf(ids[i]);
    RecordHeader* header = Header(local);
    float* out = values.data() + i * dim;
    if (read_only && !Exists(header)) {
      // Without the lock, which would take memory for a row never written.
      FillInitialRow(ids[i], absl::MakeSpan(out, dim));
      continue;
    }
    RowLock lock(header);
    if (!Exists(header)) {
      CreateRow(ids[i], local, header);
      ++created;
    }
    std::memcpy(out, Floats(header), dim * sizeof(float));
  }
  return created;
}

uint64_t ArrayTable::Apply(absl::Span<const OptimizerStep> steps,
                           uint8_t colour, absl::Span<const FeatureId> ids,
                           absl::Span<const float> gradients) {
  const size_t dim = layout_.row_dim();
  const absl::Span<const ColumnLayout> columns = layout_.columns();
  uint64_t created = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i + kPrefetchRows < ids.size()) {
      Prefetch(ids[i + kPrefetchRows], layout_.stride());
    }
    const uint64_t local = LocalOf(ids[i]);
    RecordHeader* header = Header(local);
    const float* gradient = gradients.data() + i * dim;
    RowLock lock(header);
    if (!Exists(header)) {
      CreateRow(ids[i], local, header);
      ++created;
    }
    float* floats = Floats(header);
    for (size_t c = 0; c < columns.size(); ++c) {
      const ColumnLayout& column = columns[c];
      steps[c].Apply(absl::MakeSpan(gradient + column.weights, column.dim),
                     absl::MakeSpan(floats + column.weights, column.dim),
                     absl::MakeSpan(floats + column.slots, column.slot_count));
    }
    header->colour = colour;
  }
  return created;
}

uint64_t ArrayTable::Digest() const {
  std::vector<uint64_t> names;
  for (const ColumnSpec& column : spec_.columns) {
    names.push_back(StableHash(column.variable));
  }
  uint64_t sum = 0;
  for (uint64_t slab = 0; slab < Slabs(rows_owned_); ++slab) {
    if (SlabRows(slab).load(std::memory_order_relaxed) == 0) continue;
    const uint64_t end = std::min(rows_owned_, (slab + 1) * kCellsPerSlab);
    for (uint64_t local = slab * kCellsPerSlab; local < end; ++local) {
      RecordHeader* header = Header(local);
      if (!Exists(header)) continue;
      RowLock lock(header);
      const uint64_t id = IdOf(local);
      for (size_t c = 0; c < names.size(); ++c) {
        const ColumnLayout& column = layout_.columns()[c];
        sum += ElementDigest(
            names[c], id * static_cast<uint64_t>(column.dim),
            absl::MakeSpan(Floats(header) + column.weights, column.dim));
      }
    }
  }
  return sum;
}

}  // namespace shoal
