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

// Makes MODEL_DIR/name, where shards of an attempt are to be written. Returns
// its path. ALREADY_EXISTS: it holds a manifest that is not damaged, so it is a
// checkpoint; a damaged one is removed.
// INVALID_ARGUMENT: not a name of CheckpointName.
absl::StatusOr<std::string> PrepareCheckpoint(const FileSystem& files,
                                              const std::string& model_dir,
                                              absl::string_view name);

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

// Removes directories named as checkpoints that hold no manifest.json, but
// `except` (an attempt in progress), and temporary files in the others. Only
// files that Shoal names are removed; a directory with others stays.
// REQUIRES: this process holds the model directory's lock. Where hosts share no
// disk, the manifest of a checkpoint may not have come here: `except` it too.
absl::StatusOr<Removed> RemoveVoidAttempts(const FileSystem& files,
                                           const std::string& model_dir,
                                           absl::string_view except);

// Removes the oldest valid checkpoints until `keep` are left; 0 keeps all. The
// manifest goes first. What is not valid is left alone and not counted.
absl::StatusOr<Removed> KeepNewest(const FileSystem& files,
                                   const std::string& model_dir, int keep);

}  // namespace shoal

#endif  // SHOAL_CHECKPOINT_CHECKPOINT_DIRECTORY_H_
