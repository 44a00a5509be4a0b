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
#include "core/ids.h"
#include "core/lease.h"
#include "core/model_spec.h"
#include "core/registration.h"
#include "core/shard_map.h"

namespace shoal {

// The format of manifest.json and of the shards' files. A reader refuses a
// newer one.
inline constexpr uint32_t kCheckpointFormatVersion = 1;
// A larger manifest is refused, by its writer too: bounds a reader's memory.
inline constexpr uint64_t kManifestBytesMax = uint64_t{512} << 20;
// What the pieces may take of it; the rest is for variables and shards. As many
// pieces as a job may have fit, unless files and their names are very large.
inline constexpr uint64_t kPiecesBytesMax = kManifestBytesMax / 4 * 3;

// What reading a piece whole has told.
struct SavedPieceFacts {
  uint64_t examples = 0;
  uint64_t bad_rows = 0;
  uint32_t batches = 0;
  std::optional<uint32_t> crc32c;  // of its bytes; none: of an older release

  friend bool operator==(const SavedPieceFacts&,
                         const SavedPieceFacts&) = default;
};
struct SavedPiece {
  uint32_t source = 0;  // index into sources
  uint64_t begin = 0;   // bytes [begin, end) of it
  uint64_t end = 0;
  std::optional<SavedPieceFacts> facts;  // none: not yet read whole

  friend bool operator==(const SavedPiece&, const SavedPiece&) = default;
};

// The data that the job trains on, as it is cut and named by batch ids.
struct SavedData {
  uint32_t batch_size = 0;
  uint32_t num_epochs = 0;
  std::vector<SourceInfo> sources;
  std::vector<int> hosts;  // by source: the one worker that has it; or empty
  std::vector<SavedPiece> pieces;  // index i at position i
};

// What the ledger had counted (cluster/ledger.h, LedgerTotals).
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

// All that is known of one checkpoint: the content of manifest.json.
struct Manifest {
  uint64_t step = 0;  // batches with all marks set
  absl::Time time;    // of the commit; kept to the microsecond
  std::string job;
  uint64_t attempt = 0;
  StartNumber start = 0;  // of the job that wrote it
  // The canonical text of the flags that must agree (RegisterRequest::config).
  std::string config;
  ModelSpec model;  // its seed is that of the initial values
  ShardMap map;
  SavedData data;
  SavedTotals totals;
  // Whatever else the coordinator wants back, by name; readers keep what they
  // do not know.
  std::map<std::string, std::string> notes;
  std::vector<ShardEntry> shards;  // by shard; as many as the map has

  uint64_t bytes() const;  // of all shards' files
};

// What pieces take of a manifest at most, whatever is known of them by then.
uint64_t ManifestBytesOf(absl::Span<const Piece> pieces);

// INVALID_ARGUMENT: the parts do not fit together: a shard is missing or twice,
// the map does not fit the model, a piece is of no source, the shards' marks
// differ (then they are not one cut).
absl::Status ValidateManifest(const Manifest& manifest);

// The bytes of manifest.json: JSON whose last line holds the CRC-32C of all
// bytes before it. Errors: ValidateManifest's; RESOURCE_EXHAUSTED beyond
// kManifestBytesMax.
absl::StatusOr<std::string> ManifestToJson(const Manifest& manifest);

// Reads them back. Any bytes: DATA_LOSS says what is wrong and where (CRC,
// field); FAILED_PRECONDITION: a newer format version, both are named. A result
// is valid.
absl::StatusOr<Manifest> ManifestFromJson(absl::string_view json);

}  // namespace shoal

#endif  // SHOAL_CHECKPOINT_MANIFEST_H_
