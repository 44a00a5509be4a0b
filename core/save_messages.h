#ifndef SHOAL_CORE_SAVE_MESSAGES_H_
#define SHOAL_CORE_SAVE_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/mark_run.h"

namespace shoal {

// The messages between coordinator, PSs and workers that save a checkpoint and
// begin from one (docs/consistency.md, "A checkpoint"). They travel on the
// sessions of core/cluster_service.h, in order with all other messages.

// The most text, in bytes, that one ManifestPart holds.
inline constexpr size_t kManifestPartBytes = size_t{512} << 10;

// The most bytes that one FilePart holds. A block of a checkpoint's file
// travels as two parts, because messages may be as small as 1 MiB
// (--max_message_bytes).
inline constexpr uint64_t kFilePartBytes = uint64_t{512} << 10;

// Identifies a manifest by the length and the CRC-32C of its text.
struct ManifestName {
  uint64_t bytes = 0;
  uint32_t crc32c = 0;

  friend bool operator==(const ManifestName&, const ManifestName&) = default;
};

// A manifest that a PS can get. The text may be hundreds of MiB long, more than
// a message holds. A PS that does not have the manifest already asks for it
// part by part (ManifestRequest).
struct ManifestOffer {
  ManifestName name;
  std::string text;  // the whole text if it fits one part; otherwise empty
};

// A checkpoint that a PS is to begin from.
struct LoadFrom {
  std::string directory;  // name below the PS's own model directory
  ManifestOffer manifest;
};

// Asks for a checkpoint (ClusterService::SaveCheckpoint).
struct SaveCheckpointRequest {
  std::string job;
};

// The place and the step of a checkpoint that was saved.
struct SavedCheckpoint {
  std::string path;   // as the coordinator's host knows it
  uint64_t step = 0;  // batches with all marks
};

// ---- From the coordinator

// To a worker: begin no further batch, finish the batches in flight, then
// answer Held. The worker still trains a lease that it gets while it is held:
// the coordinator grants such a lease on purpose.
//
// To a PS: refuse pushes and pulls for training (UNAVAILABLE), finish the calls
// in progress, send their marks, then answer Held. Nothing in the shard changes
// until Resume.
struct Hold {
  uint64_t number = 0;  // grows; never 0
};

// Ends the Hold of this number. Files that a PS has written meanwhile stay.
struct Resume {
  uint64_t number = 0;
};

// To a PS that is held: write the shard, answer ShardWritten when the file has
// every byte and ShardSaved when the file is on the disk. The coordinator sends
// one SaveShard at a time.
struct SaveShard {
  uint64_t number = 0;    // number of the Hold
  std::string directory;  // name below the model directory
  uint64_t attempt = 0;   // unique; part of the file's name
};

// To a PS: the checkpoint of the SaveShard of this number has failed. The PS
// stops writing and removes what it has written for that checkpoint.
struct CheckpointVoid {
  uint64_t number = 0;
};

// To a PS: the checkpoint is complete. A PS whose shard is on a disk of its own
// keeps a copy of the manifest beside the shard. The coordinator has only the
// parts of the newest manifest: a PS that is still fetching an older manifest
// ends without a copy, and needs none.
struct CheckpointDone {
  std::string directory;
  ManifestOffer manifest;
};

// To a PS: the answer to a ManifestRequest.
struct ManifestPart {
  std::string directory;  // as in the request
  uint64_t offset = 0;    // as in the request
  // The text from `offset` on, at most kManifestPartBytes. Empty: the
  // coordinator does not have that manifest, or no longer has it.
  std::string text;
};

// To a PS: the answer to a FileRequest.
struct FilePart {
  std::string directory;  // as in the request
  std::string file;       // as in the request
  uint64_t offset = 0;    // as in the request
  // The bytes that were asked for; empty unless the status is OK.
  std::string bytes;
  // Why the coordinator does not send the bytes: NOT_FOUND (the job did not
  // begin from this checkpoint, or its manifest names no such file),
  // OUT_OF_RANGE (the file does not have these bytes, or a part does not hold
  // them), or the error with which the file was read.
  absl::Status status;
};

// To the PS whose marks become the job's: send MarkRuns, from the run with
// index `offset` on.
struct MarkRunsRequest {
  uint64_t offset = 0;
};

// ---- From a process

struct Held {
  uint64_t number = 0;  // number of the Hold
  MarkTotals marks;     // for a PS, all marks of its shard
};

// The shard's file has every byte, though some bytes may still be on their way
// to the disk. This shard no longer needs training to be held. If the file
// could not be written, only ShardSaved is sent.
struct ShardWritten {
  uint64_t number = 0;  // number of the SaveShard
};

// The shard's file is on the disk (OK), or could not be written. Comes late, or
// never, if the disk hangs.
struct ShardSaved {
  uint64_t number = 0;  // number of the SaveShard
  absl::Status status;
  std::string entry;  // the shard's entry in the manifest (ShardEntryToText)
};

// The PS has loaded the shard that RegisterReply::load asked for, with these
// marks. The coordinator asks one PS for the marks themselves
// (MarkRunsRequest).
struct ShardLoaded {
  MarkTotals marks;
};

// A PS wants the part of a manifest that begins at `offset`. It asks for one
// part at a time.
struct ManifestRequest {
  std::string directory;  // directory of the LoadFrom or CheckpointDone
  uint64_t offset = 0;
};

// A PS that has a model directory of its own wants a part of a file of the
// checkpoint that the job begins from: the bytes [offset, offset + bytes). It
// asks for one part at a time, so a request also says that the process has
// taken the part before.
struct FileRequest {
  std::string directory;  // directory of the LoadFrom
  std::string file;       // name of a shard's file in the manifest
  uint64_t offset = 0;
  uint64_t bytes = 0;  // from 1 to kFilePartBytes
};

// The most runs of one message. A run takes at most 32 bytes on the wire.
inline constexpr size_t kRunsPerMessage = size_t{16} << 10;

// A part of the marks with which a shard was loaded: the answer to one
// MarkRunsRequest.
struct MarkRuns {
  uint64_t offset = 0;        // index of the first run among all of them
  std::vector<MarkRun> runs;  // at most kRunsPerMessage
  bool more = false;          // false: these are the last
};

// The process was asked to end, for example by SIGTERM. The job saves its state
// if it can and ends with `reason` (not OK).
struct StopRequest {
  absl::Status reason;
};

}  // namespace shoal

#endif  // SHOAL_CORE_SAVE_MESSAGES_H_
