#include "cmd/model_directory.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "checkpoint/checkpoint_directory.h"
#include "cluster/resume.h"
#include "ps/shard/shard_checkpoint.h"

namespace shoal {
namespace {

std::string ThisProcess() {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  return absl::StrCat(
      "pid ", getpid(), " on ", host, ", since ",
      absl::FormatTime(absl::RFC3339_sec, absl::Now(), absl::UTCTimeZone()));
}

absl::StatusOr<std::unique_ptr<FileLock>> LockPredictions(
    const FileSystem& files, const JobFlags& flags) {
  const std::string path = flags.PredictionsFile();
  // Beside a device, or a directory, there is to be no lock.
  const absl::Status there = files.OpenForRead(path).status();
  if (absl::IsFailedPrecondition(there)) {
    return Annotate(there, "--predictions_file");
  }
  auto lock = FileLock::Acquire(
      JoinPath(Dirname(path), absl::StrCat(".", Basename(path), ".lock")),
      ThisProcess());
  if (absl::IsFailedPrecondition(lock.status())) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--predictions_file=", path, " is being written by another inference: ",
        lock.status().message(), "; give each a file of its own"));
  }
  SHOAL_RETURN_IF_ERROR(
      Annotate(lock.status(), absl::StrCat("--predictions_file=", path)));
  return lock;
}

// A model directory holds checkpoints; it is none.
absl::Status CheckNoCheckpoint(const FileSystem& files,
                               const std::string& directory) {
  const std::string path = CleanPath(directory);
  if (!StepOfName(Basename(path)).has_value() ||
      absl::IsNotFound(ReadManifest(files, path).status())) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--model_dir=", directory,
      " is a checkpoint; give the directory that holds it: ", Dirname(path)));
}

// Adopts a checkpoint that was found.
absl::Status BeginFrom(const FileSystem& files, CheckpointInfo info,
                       const JobFlags& flags, const JobPlan& plan,
                       CoordinatorOptions* options) {
  CheckpointOptions& checkpoints = options->checkpoints;
  const bool training = flags.task_type == "train";
  SHOAL_RETURN_IF_ERROR(Annotate(
      CheckLoadable(info.manifest.model, plan.spec, !training), info.path));
  if (training) {
    SHOAL_RETURN_IF_ERROR(
        Annotate(CheckResumableConfig(info.manifest.config, plan.config),
                 absl::StrCat("cannot go on from ", info.path)));
  }
  SHOAL_ASSIGN_OR_RETURN(std::string text, ReadManifestBytes(files, info.path));
  checkpoints.resume_text = TextOf(std::move(text));
  checkpoints.resume_name = info.name;
  checkpoints.resume_training = training;
  checkpoints.resume =
      std::make_shared<const Manifest>(std::move(info.manifest));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<FileLock>> LockOutput(const FileSystem& files,
                                                     const JobFlags& flags) {
  SHOAL_RETURN_IF_ERROR(CheckNoCheckpoint(files, flags.model_dir));
  if (flags.task_type == "infer") return LockPredictions(files, flags);
  if (!flags.Saves()) return std::unique_ptr<FileLock>();
  if (flags.resume == "must" &&
      absl::IsNotFound(files.ListDirectory(flags.model_dir).status())) {
    return absl::NotFoundError(absl::StrCat("--resume=must: ", flags.model_dir,
                                            ": holds no valid checkpoint"));
  }
  SHOAL_RETURN_IF_ERROR(
      Annotate(files.CreateDirectories(flags.model_dir), "--model_dir"));
  auto lock =
      FileLock::Acquire(absl::StrCat(flags.model_dir, "/LOCK"), ThisProcess());
  if (absl::IsFailedPrecondition(lock.status())) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--model_dir=", flags.model_dir, " is another job's: ",
        lock.status().message(), "; give each job a directory of its own"));
  }
  SHOAL_RETURN_IF_ERROR(Annotate(lock.status(), "--model_dir"));
  return lock;
}

absl::Status PlanCheckpoints(const FileSystem& files, const JobFlags& flags,
                             const JobPlan& plan, Logger* logger,
                             CoordinatorOptions* options) {
  CheckpointOptions& checkpoints = options->checkpoints;
  checkpoints.save = flags.Saves();
  checkpoints.model_dir = flags.model_dir;
  checkpoints.save_steps = static_cast<uint64_t>(flags.save_checkpoint_steps);
  checkpoints.model = plan.spec;
  checkpoints.map = plan.map;
  checkpoints.deadline = flags.save_timeout;
  checkpoints.stop_deadline = flags.stop_timeout;
  checkpoints.first_attempt =
      static_cast<uint64_t>(absl::ToUnixMicros(absl::Now()));
  if (flags.model_dir.empty()) return absl::OkStatus();
  if (checkpoints.save) {
    // Attempts of a job that was cut off; ours is the lock.
    auto removed = RemoveVoidAttempts(files, flags.model_dir);
    SHOAL_RETURN_IF_ERROR(Annotate(removed.status(), "--model_dir"));
    if (!removed->names.empty()) {
      logger->Info(absl::StrCat("removed what was no checkpoint: ",
                                absl::StrJoin(removed->names, ", ")));
    }
  }
  // In one process every shard is read here; elsewhere the PSs see what they
  // have.
  std::vector<std::string> passed_over;
  auto newest = NewestCheckpoint(
      files, flags.model_dir, flags.command == Command::kTrain, &passed_over);
  if (newest.ok()) {
    for (const std::string& why : passed_over) {
      logger->Warn(absl::StrCat("an older checkpoint is taken: ", why));
    }
  }
  if (absl::IsDataLoss(newest.status())) {
    return absl::DataLossError(absl::StrCat(
        newest.status().message(),
        "; `shoal ckpt verify` says more. To start afresh give another "
        "--model_dir"));
  }
  if (absl::IsNotFound(newest.status())) {
    if (flags.resume == "must") {
      return Annotate(newest.status(), "--resume=must");
    }
    if (flags.task_type != "train" && flags.resume != "never") {
      return Annotate(newest.status(),
                      absl::StrCat("--task_type=", flags.task_type));
    }
    logger->Info(
        absl::StrCat("no checkpoint in ", flags.model_dir, ": starts fresh"));
    return absl::OkStatus();
  }
  SHOAL_RETURN_IF_ERROR(newest.status());
  if (flags.resume == "never") {
    if (!checkpoints.save) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat(
        "--resume=never, but ", newest->path,
        " is a checkpoint: those of two trainings would be mixed; give another "
        "--model_dir, or remove it"));
  }
  return BeginFrom(files, *std::move(newest), flags, plan, options);
}

CoordinatorWork::WriteManifest ManifestWriter(const FileSystem* files,
                                              const JobFlags& flags,
                                              Executor* executor,
                                              Logger* logger) {
  return [files, model_dir = flags.model_dir, keep = flags.keep_checkpoints,
          executor, logger](std::string directory, Manifest manifest,
                            Done<ManifestText> done) {
    executor->Post([=, directory = std::move(directory),
                    manifest = std::move(manifest),
                    done = std::move(done)]() mutable {
      const std::string path = absl::StrCat(model_dir, "/", directory);
      const absl::Status written = WriteManifest(*files, path, manifest);
      if (!written.ok()) {
        std::move(done)(written);
        return;
      }
      auto text = ReadManifestBytes(*files, path);
      if (text.ok()) {
        std::move(done)(TextOf(*std::move(text)));
      } else {
        std::move(done)(text.status());
      }
      const auto removed = KeepNewest(*files, model_dir, directory, keep);
      if (!removed.ok()) {
        logger->Warn(
            absl::StrCat("old checkpoints stay: ", removed.status().message()));
      }
    });
  };
}

}  // namespace shoal
