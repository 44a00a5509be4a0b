#include "checkpoint/checkpoint_directory.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "base/path.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr absl::string_view kPrefix = "ckpt-";
constexpr size_t kStepDigits = 11;
// Follows the name of a file that is set aside; the attempt comes after it.
constexpr absl::string_view kSetAside = ".stale-";

// True for a name that only Shoal gives to a file of a checkpoint.
bool IsOurs(absl::string_view name) {
  const bool temporary = absl::ConsumePrefix(&name, ".");
  name = name.substr(0, name.find(kSetAside));
  const bool shard = absl::StartsWith(name, "shard-") &&
                     absl::StrContains(name, ".safetensors");
  const bool manifest = absl::StartsWith(name, kManifestFile);
  if (!temporary) {
    return name == kManifestFile ||
           (shard && absl::EndsWith(name, ".safetensors"));
  }
  return shard || manifest;
}

bool IsTemporary(absl::string_view name) {
  return absl::StartsWith(name, ".") && IsOurs(name);
}

absl::Status RemoveIfThere(const FileSystem& files, const std::string& path) {
  const absl::Status removed = files.Remove(path);
  return absl::IsNotFound(removed) ? absl::OkStatus() : removed;
}

// Removes Shoal's files from a directory, and then the directory if it is
// empty. Returns true if the directory is gone.
absl::StatusOr<bool> RemoveDirectory(const FileSystem& files,
                                     const std::string& path) {
  SHOAL_RETURN_IF_ERROR(RemoveIfThere(files, JoinPath(path, kManifestFile)));
  SHOAL_ASSIGN_OR_RETURN(const auto entries, files.ListDirectory(path));
  bool all = true;
  for (const DirectoryEntry& entry : entries) {
    if (entry.is_directory || !IsOurs(entry.name)) {
      all = false;
      continue;
    }
    SHOAL_RETURN_IF_ERROR(RemoveIfThere(files, JoinPath(path, entry.name)));
  }
  if (all) SHOAL_RETURN_IF_ERROR(files.Remove(path));
  return all;
}

// Directories named as checkpoints, the largest step first.
absl::StatusOr<std::vector<std::string>> CheckpointNames(
    const FileSystem& files, const std::string& model_dir) {
  std::vector<std::string> names;
  const auto entries = files.ListDirectory(model_dir);
  if (absl::IsNotFound(entries.status())) return names;
  if (!entries.ok()) return entries.status();
  for (const DirectoryEntry& entry : *entries) {
    if (entry.is_directory && StepOfName(entry.name).has_value()) {
      names.push_back(entry.name);
    }
  }
  std::sort(names.begin(), names.end(),
            [](const std::string& a, const std::string& b) {
              return *StepOfName(a) > *StepOfName(b);
            });
  return names;
}

}  // namespace

std::string CheckpointName(uint64_t step) {
  return absl::StrFormat("ckpt-%011d", step);
}

std::optional<uint64_t> StepOfName(absl::string_view name) {
  if (!absl::ConsumePrefix(&name, kPrefix)) return std::nullopt;
  uint64_t step = 0;
  // Each step has one name: 11 digits, or more digits that do not begin with 0.
  if (name.size() < kStepDigits || !absl::SimpleAtoi(name, &step) ||
      CheckpointName(step) != absl::StrCat(kPrefix, name)) {
    return std::nullopt;
  }
  return step;
}

std::string ShardFileName(int shard, int num_shards) {
  return absl::StrFormat("shard-%05d-of-%05d.safetensors", shard, num_shards);
}

absl::StatusOr<std::string> PrepareCheckpoint(
    const FileSystem& files, const std::string& model_dir,
    absl::string_view name, const std::string& shard_file, uint64_t attempt,
    std::vector<std::string>* set_aside) {
  if (!StepOfName(name).has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", name, "' is not the name of a checkpoint"));
  }
  const std::string path = JoinPath(model_dir, name);
  SHOAL_RETURN_IF_ERROR(files.CreateDirectories(path));
  // Also if the directory existed: the process that made it may have died
  // before the sync. Without the sync a crash could lose the directory with its
  // files after older checkpoints are already removed.
  SHOAL_RETURN_IF_ERROR(files.SyncDirectory(model_dir));
  const auto there = ReadManifest(files, path);
  if (there.status().code() == absl::StatusCode::kPermissionDenied ||
      there.status().code() == absl::StatusCode::kUnavailable ||
      there.status().code() == absl::StatusCode::kInternal) {
    return there.status();
  }
  if (there.ok() && there->attempt >= attempt) {
    return absl::AlreadyExistsError(absl::StrCat(
        path, ": holds a checkpoint of attempt ", there->attempt,
        " already, and this is attempt ", attempt,
        ": another job may be writing to this model directory"));
  }
  // The manifest first: without it the rest is no checkpoint.
  for (const std::string& file : {std::string(kManifestFile), shard_file}) {
    SHOAL_RETURN_IF_ERROR(SetAside(files, path, file, attempt, set_aside));
  }
  return path;
}

absl::Status SetAside(const FileSystem& files, const std::string& directory,
                      const std::string& file, uint64_t number,
                      std::vector<std::string>* set_aside) {
  const std::string from = JoinPath(directory, file);
  if (absl::IsNotFound(files.OpenForRead(from).status())) {
    return absl::OkStatus();
  }
  const std::string to = absl::StrCat(from, kSetAside, number);
  const absl::Status renamed = files.Rename(from, to);
  // Another server may have been before us.
  if (absl::IsNotFound(renamed)) return absl::OkStatus();
  SHOAL_RETURN_IF_ERROR(renamed);
  if (set_aside != nullptr) set_aside->push_back(to);
  return absl::OkStatus();
}

absl::Status WriteManifest(const FileSystem& files,
                           const std::string& directory,
                           const Manifest& manifest) {
  SHOAL_ASSIGN_OR_RETURN(const std::string json, ManifestToJson(manifest));
  SHOAL_RETURN_IF_ERROR(files.CreateDirectories(directory));
  return files.WriteFileAtomically(JoinPath(directory, kManifestFile), json);
}

absl::Status WriteManifestBytes(const FileSystem& files,
                                const std::string& directory,
                                absl::string_view json) {
  SHOAL_RETURN_IF_ERROR(ManifestFromJson(json).status());
  SHOAL_RETURN_IF_ERROR(files.CreateDirectories(directory));
  return files.WriteFileAtomically(JoinPath(directory, kManifestFile), json);
}

absl::StatusOr<std::string> ReadManifestBytes(const FileSystem& files,
                                              const std::string& directory) {
  const std::string path = JoinPath(directory, kManifestFile);
  SHOAL_ASSIGN_OR_RETURN(const auto file, files.OpenForRead(path));
  if (file->size() > kManifestBytesMax) {
    return absl::DataLossError(absl::StrCat(path, ": has ", file->size(),
                                            " bytes; at most ",
                                            kManifestBytesMax, " are read"));
  }
  std::string json(file->size(), '\0');
  SHOAL_ASSIGN_OR_RETURN(const size_t n, file->Read(0, absl::MakeSpan(json)));
  json.resize(n);
  return json;
}

absl::StatusOr<Manifest> ReadManifest(const FileSystem& files,
                                      const std::string& directory) {
  SHOAL_ASSIGN_OR_RETURN(const std::string json,
                         ReadManifestBytes(files, directory));
  auto manifest = ManifestFromJson(json);
  if (manifest.ok()) return manifest;
  return Annotate(manifest.status(), JoinPath(directory, kManifestFile));
}

CheckpointInfo InspectCheckpoint(const FileSystem& files,
                                 const std::string& path) {
  CheckpointInfo info;
  info.path = CleanPath(path);
  info.name = std::string(Basename(info.path));
  info.step = StepOfName(info.name).value_or(0);
  auto manifest = ReadManifest(files, info.path);
  if (!manifest.ok()) {
    info.status = manifest.status();
    return info;
  }
  info.manifest = *std::move(manifest);
  for (const ShardEntry& shard : info.manifest.shards) {
    const std::string file = JoinPath(info.path, shard.file.file);
    const auto opened = files.OpenForRead(file);
    if (absl::IsNotFound(opened.status())) {
      info.missing.push_back(shard.shard);
    } else if (!opened.ok()) {
      info.status = opened.status();
      break;
    } else if ((*opened)->size() != shard.file.size) {
      info.status = absl::DataLossError(
          absl::StrCat(file, ": has ", (*opened)->size(),
                       " bytes, and the manifest says ", shard.file.size));
      break;
    }
  }
  return info;
}

absl::StatusOr<std::vector<CheckpointInfo>> ListCheckpoints(
    const FileSystem& files, const std::string& model_dir) {
  SHOAL_ASSIGN_OR_RETURN(const auto names, CheckpointNames(files, model_dir));
  std::vector<CheckpointInfo> checkpoints;
  for (const std::string& name : names) {
    checkpoints.push_back(InspectCheckpoint(files, JoinPath(model_dir, name)));
  }
  return checkpoints;
}

std::string UnfinishedSave(const FileSystem& files,
                           const std::string& model_dir) {
  const auto names = CheckpointNames(files, model_dir);
  if (!names.ok() || names->empty()) return "";
  const std::string path = JoinPath(model_dir, names->front());
  return absl::IsNotFound(InspectCheckpoint(files, path).status)
             ? names->front()
             : "";
}

std::string CheckpointInfo::WhyNot() const {
  if (!status.ok()) return std::string(status.message());
  return absl::StrCat(path, ": ", missing.size(), " of its ",
                      manifest.map.num_shards, " shard files are not here");
}

absl::StatusOr<CheckpointInfo> NewestCheckpoint(
    const FileSystem& files, const std::string& model_dir, bool need_all_files,
    std::vector<std::string>* passed_over) {
  SHOAL_ASSIGN_OR_RETURN(const auto names, CheckpointNames(files, model_dir));
  std::string instead;
  bool committed = false;
  for (const std::string& name : names) {
    CheckpointInfo info = InspectCheckpoint(files, JoinPath(model_dir, name));
    if (info.status.ok() && (info.missing.empty() || !need_all_files)) {
      return info;
    }
    const std::string why_not = info.WhyNot();
    if (passed_over != nullptr) passed_over->push_back(why_not);
    absl::StrAppend(&instead, "; ", why_not);
    committed |= !absl::IsNotFound(info.status);
  }
  const std::string message =
      absl::StrCat(model_dir, ": holds no valid checkpoint", instead);
  return committed ? absl::DataLossError(message)
                   : absl::NotFoundError(message);
}

absl::StatusOr<Removed> RemoveVoidAttempts(const FileSystem& files,
                                           const std::string& model_dir) {
  SHOAL_ASSIGN_OR_RETURN(const auto names, CheckpointNames(files, model_dir));
  Removed removed;
  for (const std::string& name : names) {
    const std::string path = JoinPath(model_dir, name);
    SHOAL_ASSIGN_OR_RETURN(const auto entries, files.ListDirectory(path));
    size_t left = entries.size();
    for (const DirectoryEntry& entry : entries) {
      if (entry.is_directory || !IsTemporary(entry.name)) continue;
      SHOAL_RETURN_IF_ERROR(RemoveIfThere(files, JoinPath(path, entry.name)));
      removed.names.push_back(JoinPath(name, entry.name));
      --left;
    }
    if (left > 0) continue;
    SHOAL_RETURN_IF_ERROR(files.Remove(path));
    removed.names.push_back(name);
  }
  return removed;
}

absl::StatusOr<Removed> KeepNewest(const FileSystem& files,
                                   const std::string& model_dir,
                                   absl::string_view committed, int keep) {
  Removed removed;
  if (keep <= 0) return removed;
  const uint64_t newest = StepOfName(committed).value_or(0);
  SHOAL_ASSIGN_OR_RETURN(const auto names, CheckpointNames(files, model_dir));
  int valid = 0;
  for (const std::string& name : names) {
    const std::string path = JoinPath(model_dir, name);
    const absl::Status status = InspectCheckpoint(files, path).status;
    if (status.ok()) ++valid;
    // NOT_FOUND: no manifest.
    const bool due = status.ok()                ? valid > keep
                     : absl::IsNotFound(status) ? valid >= keep
                                                : false;
    if (!due || *StepOfName(name) >= newest) continue;
    SHOAL_ASSIGN_OR_RETURN(const bool all, RemoveDirectory(files, path));
    if (all) removed.names.push_back(name);
  }
  return removed;
}

}  // namespace shoal
