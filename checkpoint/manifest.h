#ifndef SHOAL_CHECKPOINT_MANIFEST_H_
#define SHOAL_CHECKPOINT_MANIFEST_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "checkpoint/shard_entry.h"
#include "core/id_kind.h"
#include "core/ids.h"
#include "core/lease.h"
#include "core/model_spec.h"
#include "core/registration.h"
#include "core/shard_map.h"

namespace shoal {

// Version of the format of manifest.json and of the shards' files. A reader
// refuses a newer version.
inline constexpr uint32_t kCheckpointFormatVersion = 1;
// The largest manifest that is read or written: bounds a reader's memory.
inline constexpr uint64_t kManifestBytesMax = uint64_t{512} << 20;
// The part of a manifest that the pieces may take; the rest is for variables
// and shards. The most pieces that a job may have fit, unless the files and
// their names are very large.
inline constexpr uint64_t kPiecesBytesMax = kManifestBytesMax / 4 * 3;

// Facts about a piece that a worker has read to its end.
struct SavedPieceFacts {
  uint64_t examples = 0;
  uint64_t bad_rows = 0;
  uint32_t batches = 0;
  std::optional<uint32_t> crc32c;  // CRC-32C of its bytes; nullopt: not known

  friend bool operator==(const SavedPieceFacts&,
                         const SavedPieceFacts&) = default;
};
struct SavedPiece {
  uint32_t source = 0;  // index into sources
  uint64_t begin = 0;   // bytes [begin, end) of the source
  uint64_t end = 0;
  std::optional<SavedPieceFacts> facts;  // once it was read to its end

  friend bool operator==(const SavedPiece&, const SavedPiece&) = default;
};

// The data that the job trains on, cut into the pieces that batch ids name.
struct SavedData {
  uint32_t batch_size = 0;
  uint32_t num_epochs = 0;
  IdKind ids = IdKind::kUnknown;  // of all sources
  std::vector<SourceInfo> sources;
  std::vector<int> hosts;  // by source: the worker that has it; or empty
  std::vector<SavedPiece> pieces;  // index i at position i
};

// The counts of the ledger when the checkpoint was saved (LedgerTotals in
// cluster/ledger.h).
struct SavedTotals {
  uint64_t trained = 0;
  uint64_t rejected = 0;
  uint64_t batches = 0;
  uint64_t rejected_batches = 0;
  uint64_t mended = 0;
  uint64_t recomputed = 0;
  uint64_t repeats_refused = 0;

  friend bool operator==(const SavedTotals&, const SavedTotals&) = default;
};

// The content of manifest.json: everything known about one checkpoint.
struct Manifest {
  uint64_t step = 0;  // batches with all marks set
  absl::Time time;    // time of the commit; kept to the microsecond
  std::string job;
  uint64_t attempt = 0;
  StartNumber start = 0;  // number of the job that wrote it
  // The canonical text of the flags that must agree (RegisterRequest::config).
  // A reader gives it in the names that flags have now (core/config_text.h).
  std::string config;
  ModelSpec model;  // its seed is the seed of the initial values
  ShardMap map;
  SavedData data;
  SavedTotals totals;
  // Other values that the coordinator wants back after a restart, by name.
  // Readers keep names that they do not know.
  std::map<std::string, std::string> notes;
  std::vector<ShardEntry> shards;  // by shard; map.num_shards of them

  uint64_t bytes() const;  // bytes of all shards' files
};

// The most bytes that these pieces can take in a manifest, with all facts about
// them.
uint64_t ManifestBytesOf(absl::Span<const Piece> pieces);

// INVALID_ARGUMENT if the parts do not fit together: a shard is missing or
// there twice, the map does not fit the model, a piece does not lie in a
// source, or the shards' marks differ (so they were not saved after the same
// batches).
absl::Status ValidateManifest(const Manifest& manifest);

// The bytes of manifest.json: JSON whose last line holds the CRC-32C of all
// bytes before it. Errors: those of ValidateManifest; RESOURCE_EXHAUSTED beyond
// kManifestBytesMax.
absl::StatusOr<std::string> ManifestToJson(const Manifest& manifest);

// Reads the bytes of a manifest.json; any bytes are safe to give. Errors:
// DATA_LOSS (says what is wrong, and in which field), FAILED_PRECONDITION (a
// newer format version; both versions are named). The result passes
// ValidateManifest.
absl::StatusOr<Manifest> ManifestFromJson(absl::string_view json);

}  // namespace shoal

#endif  // SHOAL_CHECKPOINT_MANIFEST_H_
