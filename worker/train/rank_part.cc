#include "worker/train/rank_part.h"

#include <cstddef>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "worker/train/flat_values.h"

namespace shoal {
namespace {

// "SHRP" as bytes.
constexpr uint32_t kMagic = 0x50524853;
constexpr uint32_t kVersion = 1;

enum Flag : uint32_t {
  kHasBatch = 1,
  kRejected = 2,
  kTainted = 4,
  kLaneEnded = 8,
  kAllFlags = 15,
};

// The front of a part. The sizes of each table follow, then the ids of all
// tables, then their rows.
struct Front {
  uint32_t magic = kMagic;
  uint32_t version = kVersion;
  uint32_t flags = 0;
  uint32_t tables = 0;
  uint64_t hold = 0;
  uint64_t lease = 0;
  uint32_t epoch = 0;
  uint32_t piece = 0;
  uint32_t index = 0;
  uint32_t examples = 0;
};
static_assert(sizeof(Front) == 48);

struct TableSize {
  uint32_t rows = 0;
  uint32_t row_dim = 0;  // floats
};
static_assert(sizeof(TableSize) == 8);

absl::Status Malformed(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("a part with ", what));
}

Front FrontOf(const RankPart& part) {
  Front front;
  front.tables = static_cast<uint32_t>(part.tables.size());
  front.hold = part.hold;
  if (part.lane_ended) front.flags |= kLaneEnded;
  if (part.tainted) front.flags |= kTainted;
  if (!part.batch.has_value()) return front;
  front.flags |= kHasBatch;
  if (part.batch->rejected) front.flags |= kRejected;
  front.lease = part.batch->lease;
  front.epoch = part.batch->id.epoch;
  front.piece = part.batch->id.piece;
  front.index = part.batch->id.index;
  front.examples = part.batch->examples;
  return front;
}

absl::Status CheckFlags(const Front& front) {
  if ((front.flags & ~uint32_t{kAllFlags}) != 0) {
    return Malformed(absl::StrCat("the unknown flags ", front.flags));
  }
  const bool batch = front.flags & kHasBatch;
  const bool rejected = front.flags & kRejected;
  if ((rejected && !batch) || ((front.flags & kTainted) && !rejected)) {
    return Malformed(absl::StrCat("the contradictory flags ", front.flags));
  }
  if (batch != (front.examples > 0)) {
    return Malformed(absl::StrCat(front.examples, " examples"));
  }
  return absl::OkStatus();
}

absl::Status CheckTables(absl::Span<const TableSize> sizes, bool may_have_rows,
                         absl::Span<const int> row_dims) {
  for (size_t t = 0; t < sizes.size(); ++t) {
    if (sizes[t].row_dim != static_cast<uint32_t>(row_dims[t])) {
      return absl::FailedPreconditionError(
          absl::StrCat("the rows of table ", t, " have ", sizes[t].row_dim,
                       " floats there and ", row_dims[t], " here"));
    }
    if (sizes[t].rows > 0 && !may_have_rows) {
      return Malformed("rows of no batch");
    }
  }
  return absl::OkStatus();
}

// Checks the front, which is removed from *bytes, before anything else is read.
absl::StatusOr<Front> TakeFront(absl::Span<const char>* bytes, size_t tables) {
  if (bytes->size() < sizeof(Front)) {
    return Malformed(absl::StrCat(bytes->size(), " bytes"));
  }
  Front front;
  std::memcpy(&front, bytes->data(), sizeof(front));
  bytes->remove_prefix(sizeof(front));
  if (front.magic != kMagic) return Malformed("another magic");
  if (front.version != kVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("parts have version ", front.version, " there and ",
                     kVersion, " here"));
  }
  SHOAL_RETURN_IF_ERROR(CheckFlags(front));
  if (front.tables != tables) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the model has ", front.tables, " tables there and ", tables, " here"));
  }
  return front;
}

}  // namespace

void EncodeRankPart(const RankPart& part, absl::Span<const int> row_dims,
                    AlignedBuffer<char>* out) {
  SHOAL_DCHECK(part.tables.size() == row_dims.size());
  SHOAL_DCHECK(!part.tainted ||
               (part.batch.has_value() && part.batch->rejected));
  absl::InlinedVector<TableSize, 1> sizes;
  size_t bytes = sizeof(Front) + part.tables.size() * sizeof(TableSize);
  for (size_t t = 0; t < part.tables.size(); ++t) {
    const RowGradients& table = part.tables[t];
    const auto row_dim = static_cast<size_t>(row_dims[t]);
    SHOAL_DCHECK(table.rows.size() == table.ids.size() * row_dim);
    SHOAL_DCHECK(table.ids.empty() ||
                 (part.batch.has_value() && !part.batch->rejected));
    sizes.push_back({.rows = static_cast<uint32_t>(table.ids.size()),
                     .row_dim = static_cast<uint32_t>(row_dim)});
    bytes += table.ids.size() * sizeof(FeatureId) +
             table.rows.size() * sizeof(float);
  }
  out->ResizeDiscard(bytes);
  char* to = out->data();
  const Front front = FrontOf(part);
  AppendValues(&front, 1, &to);
  AppendValues(sizes.data(), sizes.size(), &to);
  for (const RowGradients& table : part.tables) {
    AppendValues(table.ids.data(), table.ids.size(), &to);
  }
  for (const RowGradients& table : part.tables) {
    AppendValues(table.rows.data(), table.rows.size(), &to);
  }
  SHOAL_DCHECK(to == out->end());
}

absl::StatusOr<RankPart> DecodeRankPart(absl::Span<const char> bytes,
                                        absl::Span<const int> row_dims) {
  SHOAL_DCHECK(reinterpret_cast<uintptr_t>(bytes.data()) %
                   alignof(FeatureId) == 0);
  SHOAL_ASSIGN_OR_RETURN(const Front front, TakeFront(&bytes, row_dims.size()));
  absl::Span<const TableSize> sizes;
  if (!TakeValues(row_dims.size(), &bytes, &sizes)) {
    return Malformed("half a front");
  }
  const bool may_have_rows =
      (front.flags & (kHasBatch | kRejected)) == kHasBatch;
  SHOAL_RETURN_IF_ERROR(CheckTables(sizes, may_have_rows, row_dims));
  RankPart part;
  part.tables.resize(row_dims.size());
  for (size_t t = 0; t < row_dims.size(); ++t) {
    if (!TakeValues(sizes[t].rows, &bytes, &part.tables[t].ids)) {
      return Malformed("fewer ids than it says");
    }
  }
  for (size_t t = 0; t < row_dims.size(); ++t) {
    // Below 2^63: both factors come from unsigned 32-bit and positive int.
    const uint64_t floats = uint64_t{sizes[t].rows} * sizes[t].row_dim;
    if (!TakeValues(floats, &bytes, &part.tables[t].rows)) {
      return Malformed("fewer rows than it says");
    }
  }
  if (!bytes.empty()) return Malformed("more bytes than it says");
  part.hold = front.hold;
  part.lane_ended = front.flags & kLaneEnded;
  part.tainted = front.flags & kTainted;
  if (front.flags & kHasBatch) {
    part.batch = {.id = {front.epoch, front.piece, front.index},
                  .lease = front.lease,
                  .examples = front.examples,
                  .rejected = (front.flags & kRejected) != 0};
  }
  return part;
}

}  // namespace shoal
