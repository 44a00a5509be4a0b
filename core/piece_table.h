#ifndef SHOAL_CORE_PIECE_TABLE_H_
#define SHOAL_CORE_PIECE_TABLE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/lease.h"
#include "core/registration.h"

namespace shoal {

// The most pieces of a job: 256 TiB at the largest default piece size.
inline constexpr uint64_t kMaxPieces = uint64_t{1} << 22;

// The default size of a piece: total_bytes / 32, but at least 64 KiB and at
// most 64 MiB. It depends on the data alone, never on the number of workers,
// since the pieces are part of a batch's identity.
uint64_t DefaultPieceBytes(uint64_t total_bytes);

// The size of a piece for batches of `batch_size` rows of `row_bytes` bytes (0:
// not known): DefaultPieceBytes, or 16 batches if such a piece would hold less
// than one batch. A file of 16 batches or more then has pieces of 8 to 16
// batches. No batch spans pieces, so small pieces make short batches.
uint64_t PieceBytesForBatches(uint64_t total_bytes, uint64_t batch_size,
                              uint64_t row_bytes);

// The pieces of `sources`, in their order, index i at position i. A file is cut
// into the fewest parts of at most `piece_bytes` bytes (nullopt: the default
// size), whose lengths differ by one byte at most; 0 keeps each file whole. A
// compressed file is kept whole, and an empty file has no piece. A pure
// function, so every start of a coordinator makes the same table.
// INVALID_ARGUMENT for more than kMaxPieces and for sizes that overflow.
absl::StatusOr<std::vector<Piece>> BuildPieceTable(
    absl::Span<const SourceInfo> sources,
    std::optional<uint64_t> piece_bytes = std::nullopt);

}  // namespace shoal

#endif  // SHOAL_CORE_PIECE_TABLE_H_
