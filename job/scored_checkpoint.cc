#include "job/scored_checkpoint.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "checkpoint/checkpoint_directory.h"
#include "launch/scoring_flags.h"

namespace shoal {
namespace {

constexpr char kVerify[] = "`shoal ckpt verify` says more; take another "
                           "checkpoint";

// What to do about shards that are on other hosts.
std::string BringTogether(const JobFlags& flags) {
  return absl::StrCat(
      "one process reads the whole model: copy the shard files of all hosts "
      "into one directory, or score on these hosts (shoal run --hosts=… "
      "--task_type=",
      flags.training.TaskName(), ")");
}

// The error of a checkpoint that cannot be used, with what to do.
absl::Status WhyNot(const CheckpointInfo& info, const JobFlags& flags) {
  if (absl::IsDataLoss(info.status)) {
    return absl::DataLossError(
        absl::StrCat(info.status.message(), "; ", kVerify));
  }
  if (!info.status.ok()) return info.status;
  std::vector<std::string> names;
  for (const int shard : info.missing) {
    names.push_back(ShardFileName(shard, info.manifest.map.num_shards));
  }
  constexpr size_t kNamed = 4;
  const size_t more = names.size() - std::min(names.size(), kNamed);
  names.resize(names.size() - more);
  return absl::NotFoundError(absl::StrCat(
      info.WhyNot(), ": ", absl::StrJoin(names, ", "),
      more > 0 ? absl::StrCat(" and ", more, " more") : "", "; ",
      BringTogether(flags)));
}

bool HasCheckpoints(const FileSystem& files, const std::string& directory) {
  const auto entries = files.ListDirectory(directory);
  return entries.ok() && std::any_of(entries->begin(), entries->end(),
                                     [](const DirectoryEntry& entry) {
                                       return entry.is_directory &&
                                              StepOfName(entry.name);
                                     });
}

// The checkpoint of --checkpoint.
absl::StatusOr<CheckpointInfo> Named(const FileSystem& files,
                                     const JobFlags& flags) {
  const std::string path = CleanPath(flags.checkpoints.checkpoint);
  SHOAL_RETURN_IF_ERROR(files.ListDirectory(path).status());
  CheckpointInfo info = InspectCheckpoint(files, path);
  if (absl::IsNotFound(info.status)) {
    if (HasCheckpoints(files, path)) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, " is a directory of checkpoints: give it as --model_dir for "
          "the newest one, or name one of those that `shoal ckpt ls ", path,
          "` lists"));
    }
    return absl::NotFoundError(
        absl::StrCat(path, ": has no ", kManifestFile,
                     ", so it is not a checkpoint, or its save was cut off; "
                     "`shoal ckpt ls ", Dirname(path),
                     "` lists the checkpoints there"));
  }
  if (!info.whole()) return WhyNot(info, flags);
  if (StepOfName(info.name).has_value()) return info;
  return absl::FailedPreconditionError(absl::StrCat(
      path, ": a checkpoint is known by the name that it was saved with, which "
      "is ", CheckpointName(info.manifest.step), "; give the directory that "
      "name again, and no link in its place"));
}

// The newest checkpoint of --model_dir.
absl::StatusOr<CheckpointInfo> Newest(const FileSystem& files,
                                      const JobFlags& flags, Logger* logger) {
  const std::string path = CleanPath(flags.checkpoints.model_dir);
  SHOAL_RETURN_IF_ERROR(files.ListDirectory(path).status());
  std::vector<std::string> passed_over;
  auto newest = NewestCheckpoint(files, path, /*need_all_files=*/true,
                                 &passed_over);
  if (newest.ok()) {
    for (const std::string& why : passed_over) {
      logger->Warn(absl::StrCat("takes ", newest->path,
                                " in place of a newer one: ", why));
    }
    return newest;
  }
  if (absl::IsNotFound(newest.status())) {
    if (!absl::IsNotFound(ReadManifest(files, path).status())) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, " is a checkpoint: give it as --checkpoint=", path));
    }
    return absl::NotFoundError(absl::StrCat(
        newest.status().message(),
        "; give the --model_dir of a training that has saved one"));
  }
  SHOAL_RETURN_IF_ERROR(absl::IsDataLoss(newest.status()) ? absl::OkStatus()
                                                          : newest.status());
  // Each reason is in the message; the cure is that of the newest entry.
  SHOAL_ASSIGN_OR_RETURN(const auto all, ListCheckpoints(files, path));
  const bool partial = std::any_of(
      all.begin(), all.end(),
      [](const CheckpointInfo& info) { return !info.missing.empty(); });
  if (partial) {
    return absl::NotFoundError(absl::StrCat(newest.status().message(), "; ",
                                            BringTogether(flags)));
  }
  return absl::DataLossError(
      absl::StrCat(newest.status().message(), "; ", kVerify));
}

absl::StatusOr<CheckpointInfo> Find(const FileSystem& files,
                                    const JobFlags& flags, Logger* logger) {
  const CheckpointFlags& given = flags.checkpoints;
  if (given.model_dir.empty() == given.checkpoint.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the model comes from a checkpoint: give ",
        given.model_dir.empty() ? "" : "only one of ",
        "--model_dir, for the newest checkpoint, or --checkpoint, for a "
        "certain one"));
  }
  const bool named = !given.checkpoint.empty();
  auto found = named ? Named(files, flags) : Newest(files, flags, logger);
  if (found.ok()) return found;
  return Annotate(found.status(), named ? "--checkpoint" : "--model_dir");
}

}  // namespace

absl::Status TakeCheckpoint(const FileSystem& files, Logger* logger,
                            JobFlags* flags, FlagSet* set) {
  SHOAL_ASSIGN_OR_RETURN(const CheckpointInfo info,
                         Find(files, *flags, logger));
  flags->checkpoints.checkpoint = info.path;
  flags->checkpoints.model_dir = std::string(Dirname(info.path));
  // Shards as they were saved: at the row limit of a table, the shard decides
  // which row an id has.
  flags->cluster.ps = info.manifest.map.ShardsOf(PartitionKind::kHash);
  return TakeModelFlags(info.manifest.config, info.path, flags, set);
}

}  // namespace shoal
