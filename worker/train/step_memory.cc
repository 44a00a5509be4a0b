#include "worker/train/step_memory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "worker/train/flat_values.h"

namespace shoal {
namespace {

// "SHST" as bytes.
constexpr uint32_t kStepMagic = 0x54534853;
constexpr uint32_t kStepVersion = 1;

// The front of a step. Its batches follow, the sizes of each table, the ids of
// all tables, their rows, and the dense gradient.
struct Front {
  uint32_t magic = kStepMagic;
  uint32_t version = kStepVersion;
  uint32_t batches = 0;
  uint32_t tables = 0;
  uint64_t dense = 0;  // floats; 0 if all batches are rejected
};
static_assert(sizeof(Front) == 24);

struct BatchEntry {
  uint64_t lease = 0;
  uint32_t epoch = 0;
  uint32_t piece = 0;
  uint32_t index = 0;
  uint32_t examples = 0;
  uint32_t rejected = 0;  // 0 or 1
  uint32_t unused = 0;
};
static_assert(sizeof(BatchEntry) == 32);

struct TableSize {
  uint32_t rows = 0;
  uint32_t row_dim = 0;  // floats
};
static_assert(sizeof(TableSize) == 8);

absl::Status Malformed(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("a step with ", what));
}

absl::StatusOr<Front> TakeFront(absl::Span<const char>* bytes, size_t tables) {
  if (bytes->size() < sizeof(Front)) {
    return Malformed(absl::StrCat(bytes->size(), " bytes"));
  }
  Front front;
  std::memcpy(&front, bytes->data(), sizeof(front));
  bytes->remove_prefix(sizeof(front));
  if (front.magic != kStepMagic) return Malformed("another magic");
  if (front.version != kStepVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("steps have version ", front.version, " there and ",
                     kStepVersion, " here"));
  }
  if (front.tables != tables) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the model has ", front.tables, " tables there and ", tables, " here"));
  }
  return front;
}

absl::Status TakeBatches(uint32_t count, absl::Span<const char>* bytes,
                         PushedBatches* batches) {
  absl::Span<const BatchEntry> entries;
  if (count > kMaxPushedBatches || !TakeValues(count, bytes, &entries)) {
    return Malformed(absl::StrCat(count, " batches"));
  }
  batches->clear();
  for (const BatchEntry& entry : entries) {
    if (entry.rejected > 1 || entry.unused != 0) {
      return Malformed("the contradictory flags of a batch");
    }
    batches->push_back({.id = {entry.epoch, entry.piece, entry.index},
                        .lease = entry.lease,
                        .examples = entry.examples,
                        .rejected = entry.rejected == 1});
  }
  const absl::Status valid = CheckPushedBatches(*batches);
  return valid.ok() ? valid : Malformed(valid.message());
}

absl::Status TakeTables(absl::Span<const TableSize> sizes,
                        absl::Span<const int> row_dims,
                        absl::Span<const char>* bytes, StepParameters* step) {
  step->tables.resize(sizes.size());
  for (size_t t = 0; t < sizes.size(); ++t) {
    if (sizes[t].row_dim != static_cast<uint32_t>(row_dims[t])) {
      return absl::FailedPreconditionError(
          absl::StrCat("the rows of table ", t, " have ", sizes[t].row_dim,
                       " floats there and ", row_dims[t], " here"));
    }
    absl::Span<const FeatureId> ids;
    if (!TakeValues(sizes[t].rows, bytes, &ids)) {
      return Malformed("fewer ids than it says");
    }
    step->tables[t].split.ids.assign(ids.begin(), ids.end());
    step->tables[t].split.begin = {0, sizes[t].rows};
  }
  for (size_t t = 0; t < sizes.size(); ++t) {
    absl::Span<const float> rows;
    // Below 2^63: both factors come from unsigned 32-bit and positive int.
    if (!TakeValues(uint64_t{sizes[t].rows} * sizes[t].row_dim, bytes, &rows)) {
      return Malformed("fewer rows than it says");
    }
    step->tables[t].d_rows.ResizeDiscard(rows.size());
    std::copy(rows.begin(), rows.end(), step->tables[t].d_rows.begin());
  }
  return absl::OkStatus();
}

}  // namespace

bool StepMemory::rejected() const { return AllRejected(batches); }

void EncodeStep(const StepMemory& step, absl::Span<const int> row_dims,
                AlignedBuffer<char>* out) {
  SHOAL_DCHECK(!step.batches.empty());
  const bool rejected = step.rejected();
  SHOAL_DCHECK(rejected || step.gradient.tables.size() == row_dims.size());
  Front front;
  front.batches = static_cast<uint32_t>(step.batches.size());
  front.tables = static_cast<uint32_t>(row_dims.size());
  front.dense = rejected ? 0 : step.gradient.d_dense.size();
  std::vector<BatchEntry> batches;
  for (const PushedBatch& batch : step.batches) {
    batches.push_back({.lease = batch.lease,
                       .epoch = batch.id.epoch,
                       .piece = batch.id.piece,
                       .index = batch.id.index,
                       .examples = batch.examples,
                       .rejected = batch.rejected});
  }
  std::vector<TableSize> sizes;
  size_t bytes = sizeof(Front) + batches.size() * sizeof(BatchEntry) +
                 row_dims.size() * sizeof(TableSize) +
                 front.dense * sizeof(float);
  for (size_t t = 0; t < row_dims.size(); ++t) {
    TableSize size;
    size.row_dim = static_cast<uint32_t>(row_dims[t]);
    if (!rejected) {
      const TableParameters& table = step.gradient.tables[t];
      size.rows = static_cast<uint32_t>(table.split.ids.size());
      SHOAL_DCHECK(table.d_rows.size() == size_t{size.rows} * size.row_dim);
    }
    sizes.push_back(size);
    bytes += size_t{size.rows} *
             (sizeof(FeatureId) + size.row_dim * sizeof(float));
  }
  out->ResizeDiscard(bytes);
  char* to = out->data();
  AppendValues(&front, 1, &to);
  AppendValues(batches.data(), batches.size(), &to);
  AppendValues(sizes.data(), sizes.size(), &to);
  if (!rejected) {
    for (const TableParameters& table : step.gradient.tables) {
      AppendValues(table.split.ids.data(), table.split.ids.size(), &to);
    }
    for (const TableParameters& table : step.gradient.tables) {
      AppendValues(table.d_rows.data(), table.d_rows.size(), &to);
    }
    AppendValues(step.gradient.d_dense.data(), step.gradient.d_dense.size(),
                 &to);
  }
  SHOAL_DCHECK(to == out->end());
}

absl::Status DecodeStep(absl::Span<const char> bytes,
                        absl::Span<const int> row_dims, size_t dense_size,
                        StepMemory* step) {
  SHOAL_DCHECK(reinterpret_cast<uintptr_t>(bytes.data()) %
                   alignof(FeatureId) == 0);
  SHOAL_ASSIGN_OR_RETURN(const Front front, TakeFront(&bytes, row_dims.size()));
  SHOAL_RETURN_IF_ERROR(TakeBatches(front.batches, &bytes, &step->batches));
  const bool rejected = step->rejected();
  if (front.dense != (rejected ? 0 : dense_size)) {
    return absl::FailedPreconditionError(
        absl::StrCat("a step has ", front.dense, " dense values there and ",
                     rejected ? 0 : dense_size, " here"));
  }
  absl::Span<const TableSize> sizes;
  if (!TakeValues(row_dims.size(), &bytes, &sizes)) {
    return Malformed("half a front");
  }
  for (const TableSize& size : sizes) {
    if (rejected && size.rows > 0) return Malformed("rows of no batch");
  }
  SHOAL_RETURN_IF_ERROR(TakeTables(sizes, row_dims, &bytes, &step->gradient));
  absl::Span<const float> dense;
  if (!TakeValues(front.dense, &bytes, &dense)) {
    return Malformed("fewer dense values than it says");
  }
  if (!bytes.empty()) return Malformed("more bytes than it says");
  // An empty gradient has the room of a whole one, as RingRound's.
  step->gradient.d_dense.ResizeDiscard(dense_size);
  std::copy(dense.begin(), dense.end(), step->gradient.d_dense.begin());
  return absl::OkStatus();
}

}  // namespace shoal
