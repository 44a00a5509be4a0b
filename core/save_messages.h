#ifndef SHOAL_CORE_SAVE_MESSAGES_H_
#define SHOAL_CORE_SAVE_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/mark_run.h"

namespace shoal {

// What coordinator, PSs and workers say to each other to save a checkpoint and
// to begin from one (docs/consistency.md, "A checkpoint"). They travel on the
// sessions of core/cluster_service.h, in order with everything else.

// The text of one manifest part at most.
inline constexpr size_t kManifestPartBytes = size_t{512} << 10;

// Which manifest: the length of its text and the CRC-32C of that.
struct ManifestName {
  uint64_t bytes = 0;
  uint32_t crc32c = 0;

  friend bool operator==(const ManifestName&, const ManifestName&) = default;
};

// A manifest that a PS can have. The text may have hundreds of MiB, which no
// message holds: a PS that has no such file already asks for it part by part
// (ManifestRequest).
struct ManifestOffer {
  ManifestName name;
  std::string text;  // all of it, where one part holds it; otherwise empty
};

// A checkpoint that a PS is to begin from.
struct LoadFrom {
  std::string directory;  // its name below the PS's own model directory
  ManifestOffer manifest;
};

// Asks for a checkpoint (ClusterService::SaveCheckpoint).
struct SaveCheckpointRequest {
  std::string job;
};

// Where a checkpoint lies, and what it holds.
struct SavedCheckpoint {
  std::string path;   // as the coordinator's host knows it
  uint64_t step = 0;  // batches with all marks
};

// ---- From the coordinator

// To a worker: begin no further batch, end those in flight, answer Held. A
// lease that it is given while it is held it trains all the same: the
// coordinator wants just that.
// To a PS: refuse pushes and pulls for training (UNAVAILABLE), end those in
// progress, send the marks made, answer Held. Until Resume nothing in the shard
// changes.
struct Hold {
  uint64_t number = 0;  // grows; never 0
};

// Ends the Hold of this number. What a PS has written meanwhile stays.
struct Resume {
  uint64_t number = 0;
};

// To a PS that is held: write the shard, answer ShardWritten when its file has
// every byte and ShardSaved when it is on the disk. One at a time.
struct SaveShard {
  uint64_t number = 0;    // of its Hold
  std::string directory;  // name below the model directory
  uint64_t attempt = 0;   // in the file's name: no attempt has another's
};

// To a PS: no checkpoint comes of the SaveShard of this number. The PS gives it
// up and removes what it has written for it.
struct CheckpointVoid {
  uint64_t number = 0;
};

// To a PS: the checkpoint has become one. It keeps the manifest beside its own
// shard, where that is on a disk of its own. The coordinator has the parts of
// the newest manifest alone: a PS that still fetches an older one has no copy
// of it, nor needs one.
struct CheckpointDone {
  std::string directory;
  ManifestOffer manifest;
};

// To a PS: the answer to a ManifestRequest.
struct ManifestPart {
  std::string directory;  // of the request
  uint64_t offset = 0;    // of the request
  // The text from there on, at most kManifestPartBytes of it. Empty: the
  // coordinator does not have that manifest, or not any more.
  std::string text;
};

// To the PS whose marks are to be the job's: send MarkRuns, from the run of
// this index on.
struct MarkRunsRequest {
  uint64_t offset = 0;
};

// ---- From a process

struct Held {
  uint64_t number = 0;  // of the Hold
  MarkTotals marks;     // of a PS: all that it has
};

// The shard's file has every byte, which may be on their way to the disk still:
// as far as this shard goes, training may go on. Nothing is said of a file that
// could not be written but ShardSaved.
struct ShardWritten {
  uint64_t number = 0;  // of the SaveShard
};

// The shard's file is on the disk, or is not. Where the disk hangs it comes
// late, or never.
struct ShardSaved {
  uint64_t number = 0;  // of the SaveShard
  absl::Status status;
  std::string entry;  // what the manifest says of the shard
};

// The shard that RegisterReply::load asked for is there, with these marks. The
// coordinator asks one PS for them by run (MarkRunsRequest).
struct ShardLoaded {
  MarkTotals marks;
};

// A PS wants the part of a manifest that begins at `offset`. It asks for one
// part at a time.
struct ManifestRequest {
  std::string directory;  // of the LoadFrom or CheckpointDone
  uint64_t offset = 0;
};

// The runs of one message at most. A run takes at most 32 bytes on the wire.
inline constexpr size_t kRunsPerMessage = size_t{16} << 10;

// A part of the marks with which a shard was loaded: the answer to one
// MarkRunsRequest.
struct MarkRuns {
  uint64_t offset = 0;        // index of the first run among all of them
  std::vector<MarkRun> runs;  // kRunsPerMessage at most
  bool more = false;          // false: these are the last
};

// The process was asked to end, as by SIGTERM: the job shall save its state, if
// it can, and end for `reason` (not OK).
struct StopRequest {
  absl::Status reason;
};

}  // namespace shoal

#endif  // SHOAL_CORE_SAVE_MESSAGES_H_
