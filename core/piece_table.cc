#include "core/piece_table.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr uint64_t kPiecesWanted = 32;
constexpr uint64_t kSmallestPiece = uint64_t{64} << 10;
constexpr uint64_t kLargestPiece = uint64_t{64} << 20;
// Batches of a piece that is made for large batches. A file is cut into equal
// parts of this size at most, so of half of it at least.
constexpr uint64_t kMostBatches = 16;

absl::StatusOr<uint64_t> TotalBytes(absl::Span<const SourceInfo> sources) {
  uint64_t total = 0;
  for (const SourceInfo& source : sources) {
    if (source.size > std::numeric_limits<uint64_t>::max() - total) {
      return absl::InvalidArgumentError(absl::StrCat(
          "source '", source.name, "' claims ", source.size,
          " bytes, which makes the total size of the sources overflow"));
    }
    total += source.size;
  }
  return total;
}

}  // namespace

uint64_t DefaultPieceBytes(uint64_t total_bytes) {
  return std::clamp(total_bytes / kPiecesWanted, kSmallestPiece, kLargestPiece);
}

uint64_t PieceBytesForBatches(uint64_t total_bytes, uint64_t batch_size,
                              uint64_t row_bytes) {
  const uint64_t usual = DefaultPieceBytes(total_bytes);
  const uint64_t batch = batch_size * row_bytes;
  return batch <= usual ? usual : kMostBatches * batch;
}

absl::StatusOr<std::vector<Piece>> BuildPieceTable(
    absl::Span<const SourceInfo> sources, std::optional<uint64_t> piece_bytes) {
  SHOAL_ASSIGN_OR_RETURN(const uint64_t total, TotalBytes(sources));
  const uint64_t most = piece_bytes.value_or(DefaultPieceBytes(total));
  std::vector<Piece> pieces;
  for (size_t s = 0; s < sources.size(); ++s) {
    const uint64_t size = sources[s].size;
    if (size == 0) continue;
    const bool whole = most == 0 || sources[s].compressed;
    const uint64_t parts = whole ? 1 : (size - 1) / most + 1;
    if (parts > kMaxPieces - pieces.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "pieces of ", most, " bytes make more than ", kMaxPieces,
          " of the data (", total, " bytes): give a larger --piece_bytes"));
    }
    uint64_t begin = 0;
    for (uint64_t part = 0; part < parts; ++part) {
      const uint64_t length = size / parts + (part < size % parts ? 1 : 0);
      pieces.push_back({static_cast<uint32_t>(pieces.size()),
                        static_cast<uint32_t>(s), begin, begin + length});
      begin += length;
    }
  }
  return pieces;
}

}  // namespace shoal
