#ifndef SHOAL_CHECKPOINT_CHECKPOINT_DIRECTORY_H_
#define SHOAL_CHECKPOINT_CHECKPOINT_DIRECTORY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/file_system.h"
#include "checkpoint/manifest.h"

namespace shoal {

// A model directory holds one directory a checkpoint:
//
//   MODEL_DIR/ckpt-00000012345/shard-00000-of-00002.safetensors
//                              shard-00001-of-00002.safetensors
//                              manifest.json             (last: makes it one)
//
// A directory without a valid manifest is not a checkpoint. Where hosts share
// no disk, each has its own shards and a copy of the manifest.

inline constexpr char kManifestFile[] = "manifest.json";

// "ckpt-00000012345"; 12345 of it, or nothing of any other name.
std::string CheckpointName(uint64_t step);
std::optional<uint64_t> StepOfName(absl::string_view name);
// "shard-00002-of-00004.safetensors".
std::string ShardFileName(int shard, int num_shards);

// Makes MODEL_DIR/name, where `shard_file` of this attempt is to be written,
// and syncs MODEL_DIR, so that the name outlives a crash. Returns its path.
// What is there under that step already is not this job's newest (which alone
// could be of that step): another training's, left on a host's own disk, a
// damaged one that was passed over, or a void attempt's. A manifest and a file
// of the shard's name are set aside, as NAME.stale-ATTEMPT; *set_aside, which
// may be null, gets their names. Several servers may do this at the same time.
// ALREADY_EXISTS: a checkpoint of this attempt or a later one: then another
// process writes here. INVALID_ARGUMENT: not a name of CheckpointName. The
// file system's, of a manifest that cannot be read.
absl::StatusOr<std::string> PrepareCheckpoint(
    const FileSystem& files, const std::string& model_dir,
    absl::string_view name, const std::string& shard_file, uint64_t attempt,
    std::vector<std::string>* set_aside = nullptr);

// Commits: writes the manifest into the checkpoint's directory (temporary file,
// fsync, rename, fsync of the directory). Used for the copies too. `directory`
// is made if need be. Errors: ManifestToJson's, the file system's.
absl::Status WriteManifest(const FileSystem& files,
                           const std::string& directory,
                           const Manifest& manifest);
// The same with bytes that a coordinator has sent; they are checked first.
absl::Status WriteManifestBytes(const FileSystem& files,
                                const std::string& directory,
                                absl::string_view json);

// Errors: ManifestFromJson's, naming the file; NOT_FOUND: there is none.
absl::StatusOr<Manifest> ReadManifest(const FileSystem& files,
                                      const std::string& directory);
// Also the bytes, to hand them on as they are.
absl::StatusOr<std::string> ReadManifestBytes(const FileSystem& files,
                                              const std::string& directory);

// One directory of a model directory that is named as a checkpoint.
struct CheckpointInfo {
  std::string name;
  std::string path;
  uint64_t step = 0;  // of the name
  // Why it is no checkpoint: NOT_FOUND (no manifest: an attempt that was void
  // or cut off), DATA_LOSS (a damaged manifest, a file of another size),
  // FAILED_PRECONDITION (a newer format). OK: it is one.
  absl::Status status;
  Manifest manifest;  // where status is OK
  // Shards whose file is not here: on other hosts, or lost.
  std::vector<int> missing;

  bool whole() const { return status.ok() && missing.empty(); }
  // Why it cannot be begun from, where it is not OK or not whole.
  std::string WhyNot() const;
};

// One of them, looked at: manifest, and sizes of the files that are there.
CheckpointInfo InspectCheckpoint(const FileSystem& files,
                                 const std::string& path);

// All of a model directory, the largest step first. A model directory that does
// not exist has none. Errors: the file system's.
absl::StatusOr<std::vector<CheckpointInfo>> ListCheckpoints(
    const FileSystem& files, const std::string& model_dir);

// The newest with a status of OK; `need_all_files`: and whole. Newer ones that
// were passed over are appended to *passed_over, which may be null. NOT_FOUND:
// there is none that was ever committed; DATA_LOSS: there is, but none is
// valid. Both say what there was instead, newest first.
absl::StatusOr<CheckpointInfo> NewestCheckpoint(
    const FileSystem& files, const std::string& model_dir, bool need_all_files,
    std::vector<std::string>* passed_over = nullptr);

// What a clean-up removed, by name.
struct Removed {
  std::vector<std::string> names;
};

// Removes the temporary files of attempts that were cut off, and directories
// named as checkpoints that are empty then. Whole shard files stay, also where
// there is no manifest.json: where hosts share no disk its copy may not have
// come here, and the shard may be of a checkpoint that others have.
// REQUIRES: this process holds the model directory's lock.
absl::StatusOr<Removed> RemoveVoidAttempts(const FileSystem& files,
                                           const std::string& model_dir);

// Removes the oldest valid checkpoints until `keep` are left, and directories
// without a manifest that are older than those (a checkpoint without its copy
// would be due as well); 0 keeps all. `committed`, the name of the one that was
// just written, and what is newer stay in any case. The manifest goes first,
// and what was set aside goes with its directory. What is damaged is left alone
// and not counted.
absl::StatusOr<Removed> KeepNewest(const FileSystem& files,
                                   const std::string& model_dir,
                                   absl::string_view committed, int keep);

}  // namespace shoal

#endif  // SHOAL_CHECKPOINT_CHECKPOINT_DIRECTORY_H_
