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

// A model directory holds one directory for each checkpoint:
//
//   MODEL_DIR/ckpt-00000012345/shard-00000-of-00002.safetensors
//                              shard-00001-of-00002.safetensors
//                              manifest.json             (written last)
//
// A directory without a valid manifest is not a checkpoint. If the hosts do not
// share a disk, each host has its own shards and a copy of the manifest.

inline constexpr char kManifestFile[] = "manifest.json";

// The directory name of a step, "ckpt-00000012345" for 12345; and the step of
// such a name, or nothing for any other name.
std::string CheckpointName(uint64_t step);
std::optional<uint64_t> StepOfName(absl::string_view name);
// "shard-00002-of-00004.safetensors".
std::string ShardFileName(int shard, int num_shards);

// Makes the directory MODEL_DIR/name, in which this attempt will write
// `shard_file`, and syncs MODEL_DIR, so that the name survives a crash. Returns
// the path of the directory.
//
// The directory may exist already, but then it is not this job's newest
// checkpoint. It is left over from another training on a host's own disk, or it
// is a damaged checkpoint that was passed over, or a failed attempt. A manifest
// in it, and a file with the name of the shard's file, are set aside as
// NAME.stale-ATTEMPT; their names are appended to *set_aside, which may be
// null. Several servers may call this at the same time.
//
// Errors: ALREADY_EXISTS (the directory has a manifest of this attempt or a
// later one, so another process writes here); INVALID_ARGUMENT (`name` is not a
// CheckpointName); those of the file system, also for a manifest that cannot be
// read.
absl::StatusOr<std::string> PrepareCheckpoint(
    const FileSystem& files, const std::string& model_dir,
    absl::string_view name, const std::string& shard_file, uint64_t attempt,
    std::vector<std::string>* set_aside = nullptr);

// Gives a file of `directory` the name FILE.stale-NUMBER, if it is there, and
// appends its new path to *set_aside, which may be null. Several servers may
// call this at the same time. Errors: those of the file system.
absl::Status SetAside(const FileSystem& files, const std::string& directory,
                      const std::string& file, uint64_t number,
                      std::vector<std::string>* set_aside);

// Commits a checkpoint: writes the manifest into the checkpoint's directory
// (temporary file, fsync, rename, fsync of the directory). Also used for the
// copies of a manifest. Makes `directory` if it does not exist. Errors: those
// of ManifestToJson and of the file system.
absl::Status WriteManifest(const FileSystem& files,
                           const std::string& directory,
                           const Manifest& manifest);
// The same for the bytes of a manifest that a coordinator has sent. Checks them
// first.
absl::Status WriteManifestBytes(const FileSystem& files,
                                const std::string& directory,
                                absl::string_view json);

// Reads a checkpoint's manifest. Errors: NOT_FOUND (there is no manifest);
// those of ManifestFromJson, which then name the file.
absl::StatusOr<Manifest> ReadManifest(const FileSystem& files,
                                      const std::string& directory);
// The same, but returns the bytes as they are in the file, to pass them on.
absl::StatusOr<std::string> ReadManifestBytes(const FileSystem& files,
                                              const std::string& directory);

// A directory of a model directory whose name is that of a checkpoint.
struct CheckpointInfo {
  std::string name;
  std::string path;
  uint64_t step = 0;  // from the name
  // OK if the directory is a checkpoint, and otherwise why it is not: NOT_FOUND
  // (no manifest: the attempt failed or was cut off), DATA_LOSS (the manifest
  // is damaged, or a file has another size), FAILED_PRECONDITION (a newer
  // format).
  absl::Status status;
  Manifest manifest;  // valid if status is OK
  // Shards whose file is not here: it is on another host, or lost.
  std::vector<int> missing;

  bool whole() const { return status.ok() && missing.empty(); }
  // Why a job cannot begin from this directory, if status is not OK or whole()
  // is false.
  std::string WhyNot() const;
};

// Inspects one checkpoint directory: the manifest, and the sizes of the files
// that are there.
CheckpointInfo InspectCheckpoint(const FileSystem& files,
                                 const std::string& path);

// Inspects all checkpoint directories of a model directory, the largest step
// first. A model directory that does not exist has none. Errors: those of the
// file system.
absl::StatusOr<std::vector<CheckpointInfo>> ListCheckpoints(
    const FileSystem& files, const std::string& model_dir);

// The name of the newest checkpoint directory if no manifest was written into
// it: the save was cut off, or still runs. Otherwise, and if the directory
// cannot be read, an empty text.
std::string UnfinishedSave(const FileSystem& files,
                           const std::string& model_dir);

// Returns the newest checkpoint whose status is OK and, if `need_all_files`,
// which is whole. If newer checkpoints were passed over, the reasons are
// appended to *passed_over, which may be null. Errors: NOT_FOUND (no checkpoint
// was ever committed), DATA_LOSS (checkpoints were committed, but none is
// valid). Both errors name the entries that are there instead, the newest
// first.
absl::StatusOr<CheckpointInfo> NewestCheckpoint(
    const FileSystem& files, const std::string& model_dir, bool need_all_files,
    std::vector<std::string>* passed_over = nullptr);

// The names of what a clean-up removed.
struct Removed {
  std::vector<std::string> names;
};

// Removes the temporary files of attempts that were cut off, and checkpoint
// directories that are empty after that. Whole shard files stay, even without a
// manifest.json: if the hosts do not share a disk, the copy of the manifest may
// not have arrived here, and the shard may belong to a valid checkpoint.
// REQUIRES: this process holds the model directory's lock.
absl::StatusOr<Removed> RemoveVoidAttempts(const FileSystem& files,
                                           const std::string& model_dir);

// Removes the oldest valid checkpoints until `keep` are left; 0 keeps all. Also
// removes older directories without a manifest, since a checkpoint whose copy
// of the manifest did not arrive here would be removed as well. `committed` is
// the name of the checkpoint that was just written: it and all newer ones stay
// in any case. The manifest is removed first. Files that were set aside are
// removed with their directory. Damaged checkpoints stay and are not counted.
absl::StatusOr<Removed> KeepNewest(const FileSystem& files,
                                   const std::string& model_dir,
                                   absl::string_view committed, int keep);

}  // namespace shoal

#endif  // SHOAL_CHECKPOINT_CHECKPOINT_DIRECTORY_H_
