#include "job/model_directory.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "base/clock.h"
#include "base/output_path.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "checkpoint/checkpoint_directory.h"
#include "cluster/resume.h"
#include "job/start_number.h"
#include "ps/shard/shard_checkpoint.h"

namespace shoal {
namespace {

// Time between two attempts to take a lock that another job has.
constexpr absl::Duration kLockPause = absl::Milliseconds(100);

std::string ServersLock(const JobFlags& flags) {
  return absl::StrCat(flags.checkpoints.model_dir, "/", kServersLockFile);
}

// The name that servers of another job see for a server of this job.
std::string ServerOf(StartNumber start) {
  return absl::StrCat("start ", absl::Hex(start), ", ", ThisProcess());
}

// The error of taking LOCK.ps, with what to do. `who` wants the lock.
absl::Status ServersLockError(const absl::Status& status, const JobFlags& flags,
                              absl::string_view who) {
  if (!absl::IsFailedPrecondition(status)) {
    return Annotate(status, "--model_dir");
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "--model_dir=", flags.checkpoints.model_dir,
      " belongs to another job on this host: ", status.message(),
      ", and this is ", who,
      "; end that job, or give each job a separate directory"));
}

// The directories of `path` that do not exist yet, the innermost first.
std::vector<std::string> Missing(const FileSystem& files,
                                 const std::string& path) {
  std::vector<std::string> missing;
  for (std::string at = CleanPath(path);
       absl::IsNotFound(files.OpenForRead(at).status());
       at = std::string(Dirname(at))) {
    missing.push_back(at);
  }
  return missing;
}

// Makes the model directory, of which the parts in `missing` do not exist, so
// that it outlives a crash.
absl::Status MakeDurably(const FileSystem& files, const std::string& model_dir,
                         const std::vector<std::string>& missing) {
  absl::Status status = Annotate(files.CreateDirectories(model_dir),
                                 "the directory cannot be made");
  for (const std::string& made : missing) {
    // A directory that may be written to but not opened cannot be synced.
    const absl::Status synced = files.SyncDirectory(std::string(Dirname(made)));
    if (!absl::IsPermissionDenied(synced)) status.Update(synced);
  }
  return Annotate(status, "--model_dir");
}

// INVALID_ARGUMENT if `directory` is a checkpoint: a model directory holds
// checkpoints.
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

// True if the process with the coordinator needs all files of the checkpoint:
// it holds every shard, or a copy of the one shard of a ring.
bool NeedsAllFiles(const JobFlags& flags) {
  return IsOneProcess(flags.command) || !flags.HasServers();
}

// Notes the newest checkpoint before `step` that was not saved while training
// looked as if it diverged: if this job diverges too, its advice names that
// checkpoint.
void FindSound(const FileSystem& files, const JobFlags& flags, uint64_t step,
               CheckpointOptions* checkpoints) {
  // Advice alone: a directory that cannot be listed ends no job.
  const auto all = ListCheckpoints(files, flags.checkpoints.model_dir);
  if (!all.ok()) return;
  for (const CheckpointInfo& info : *all) {  // the newest first
    const bool usable =
        NeedsAllFiles(flags) ? info.whole() : info.status.ok();
    if (!usable || info.manifest.step >= step ||
        info.manifest.notes.count(kDivergingNote) != 0) {
      continue;
    }
    checkpoints->sound_path = info.path;
    checkpoints->sound_step = info.manifest.step;
    return;
  }
}

// Makes the job begin from a checkpoint that was found.
absl::Status BeginFrom(const FileSystem& files, CheckpointInfo info,
                       const JobFlags& flags, const JobPlan& plan,
                       CoordinatorOptions* options) {
  CheckpointOptions& checkpoints = options->checkpoints;
  const bool training = flags.training.Trains();
  const absl::Status loadable =
      CheckLoadable(info.manifest.model, plan.spec, !training);
  SHOAL_RETURN_IF_ERROR(Annotate(
      training ? WithResumeAdvice(loadable) : loadable, info.path));
  if (training) {
    SHOAL_RETURN_IF_ERROR(
        Annotate(CheckResumableConfig(info.manifest.config, plan.config,
                                      flags.MayDifferOnResume()),
                 absl::StrCat("cannot resume from ", info.path)));
  }
  SHOAL_ASSIGN_OR_RETURN(std::string text, ReadManifestBytes(files, info.path));
  checkpoints.resume_text = TextOf(std::move(text));
  checkpoints.resume_name = info.name;
  checkpoints.resume_training = training;
  if (training && info.manifest.notes.count(kDivergingNote) != 0) {
    FindSound(files, flags, info.manifest.step, &checkpoints);
  }
  checkpoints.resume =
      std::make_shared<const Manifest>(std::move(info.manifest));
  return absl::OkStatus();
}

// The checkpoint that the flags name, or else the newest one.
absl::StatusOr<CheckpointInfo> FindCheckpoint(
    const FileSystem& files, const JobFlags& flags,
    std::vector<std::string>* passed_over) {
  if (flags.checkpoints.checkpoint.empty()) {
    // Where other processes have files, each PS looks at its own.
    return NewestCheckpoint(files, flags.checkpoints.model_dir,
                            NeedsAllFiles(flags), passed_over);
  }
  CheckpointInfo info = InspectCheckpoint(files, flags.checkpoints.checkpoint);
  SHOAL_RETURN_IF_ERROR(info.status);
  return info;
}

// True if the job begins from the newest checkpoint, false if it begins from
// initial weights. Errors: those of `newest`, with what to do, except that
// NOT_FOUND may be allowed; FAILED_PRECONDITION if --resume=never, and this job
// would save beside that checkpoint.
absl::StatusOr<bool> BeginsFromNewest(
    const absl::StatusOr<CheckpointInfo>& newest, const JobFlags& flags,
    Logger* logger) {
  using Resume = CheckpointFlags::Resume;
  const Resume resume = flags.checkpoints.resume;
  if (absl::IsDataLoss(newest.status())) {
    return absl::DataLossError(absl::StrCat(
        newest.status().message(),
        "; `shoal ckpt verify` says more. To start afresh give another "
        "--model_dir"));
  }
  if (absl::IsNotFound(newest.status())) {
    if (resume == Resume::kMust) {
      return Annotate(newest.status(), "--resume=must");
    }
    if (!flags.training.Trains() && resume != Resume::kNever) {
      return Annotate(newest.status(), flags.TaskText());
    }
    logger->Info(absl::StrCat("no checkpoint in ", flags.checkpoints.model_dir,
                              ": starts from initial weights"));
    return false;
  }
  SHOAL_RETURN_IF_ERROR(newest.status());
  if (resume != Resume::kNever) return true;
  if (!flags.Saves()) return false;
  return absl::FailedPreconditionError(absl::StrCat(
      "--resume=never, but ", newest->path,
      " is a checkpoint: checkpoints of two trainings would be mixed; give "
      "another --model_dir, or remove the checkpoint"));
}

// Takes LOCK.ps for the process with the coordinator.
absl::StatusOr<std::unique_ptr<GroupLock>> LockServers(const JobFlags& flags,
                                                       Logger* logger) {
  const RealClock clock;
  const absl::Time give_up = clock.Now() + DirectoryPatience(flags);
  for (bool told = false;;) {
    auto lock = GroupLock::AcquireAlone(ServersLock(flags), ThisProcess());
    if (lock.ok()) return lock;
    const absl::Status status =
        ServersLockError(lock.status(), flags, "a job that begins");
    const absl::Duration left = give_up - clock.Now();
    if (!absl::IsFailedPrecondition(status) || left <= absl::ZeroDuration()) {
      return status;
    }
    if (!std::exchange(told, true)) {
      logger->Warn(absl::StrCat(status.message(), "; waiting ",
                                absl::FormatDuration(DirectoryPatience(flags)),
                                " at most for that job to end"));
    }
    absl::SleepFor(kLockPause);
  }
}

}  // namespace

std::string ThisProcess() {
  return absl::StrCat("pid ", getpid(), " on ", HostName(), ", since ",
                      absl::FormatTime(absl::RFC3339_sec, RealClock().Now(),
                                       absl::UTCTimeZone()));
}

std::string HostName() {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  return host;
}

OutputLock::~OutputLock() {
  if (kept_ || lock_ == nullptr) return;
  // Removed while the locks are held: another job may make this file
  // afterwards.
  if (!start_.empty()) files_->Remove(start_).IgnoreError();
  if (servers_ != nullptr) servers_->Withdraw();
  lock_->Withdraw();
  // A directory that is not empty by now stays.
  for (const std::string& path : made_) files_->Remove(path).IgnoreError();
}

absl::Status OutputLock::LockPredictions(const JobFlags& flags) {
  // OutputPath refuses a device or a directory, so that there is no lock beside
  // them, and gives one path, and so one lock, for all names of a file.
  const auto output = OutputPath(flags.PredictionsFile());
  SHOAL_RETURN_IF_ERROR(Annotate(output.status(), "--predictions_file"));
  const std::string& path = *output;
  auto lock = FileLock::Acquire(
      JoinPath(Dirname(path), absl::StrCat(".", Basename(path), ".lock")),
      ThisProcess());
  if (absl::IsFailedPrecondition(lock.status())) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--predictions_file=", path, " is being written by another inference: ",
        lock.status().message(), "; give each inference a separate file"));
  }
  // The lock is a file beside the predictions, of which the user knows nothing.
  if (absl::IsNotFound(lock.status()) ||
      absl::IsPermissionDenied(lock.status())) {
    return absl::Status(
        lock.status().code(),
        absl::StrCat("--predictions_file=", path, ": the directory ",
                     Dirname(path),
                     absl::IsNotFound(lock.status())
                         ? " does not exist"
                         : " may not be written to: Permission denied"));
  }
  SHOAL_RETURN_IF_ERROR(
      Annotate(lock.status(), absl::StrCat("--predictions_file=", path)));
  lock_ = *std::move(lock);
  return absl::OkStatus();
}

absl::Status OutputLock::LockModelDirectory(const JobFlags& flags,
                                            Logger* logger) {
  const std::string& model_dir = flags.checkpoints.model_dir;
  std::vector<std::string> missing = Missing(*files_, model_dir);
  SHOAL_RETURN_IF_ERROR(MakeDurably(*files_, model_dir, missing));
  auto lock = FileLock::Acquire(JoinPath(model_dir, kLockFile), ThisProcess());
  if (absl::IsFailedPrecondition(lock.status())) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--model_dir=", model_dir, " belongs to another job: ",
        lock.status().message(), "; give each job a separate directory"));
  }
  if (absl::IsPermissionDenied(lock.status())) {
    return absl::PermissionDeniedError(absl::StrCat(
        "--model_dir: ", lock.status().message(),
        "; the job writes its checkpoints there, so its user must be able to "
        "write into the directory"));
  }
  SHOAL_RETURN_IF_ERROR(Annotate(lock.status(), "--model_dir"));
  lock_ = *std::move(lock);
  const std::string start = JoinPath(model_dir, kStartFile);
  if (absl::IsNotFound(files_->OpenForRead(start).status())) {
    start_ = start;
  }
  made_ = std::move(missing);
  SHOAL_ASSIGN_OR_RETURN(servers_, LockServers(flags, logger));
  return absl::OkStatus();
}

absl::Status OutputLock::Share(StartNumber start) {
  if (servers_ == nullptr) return absl::OkStatus();
  return Annotate(servers_->Share(start, ServerOf(start)), "--model_dir");
}

absl::StatusOr<std::unique_ptr<OutputLock>> LockOutput(const FileSystem& files,
                                                       const JobFlags& flags,
                                                       Logger* logger) {
  SHOAL_RETURN_IF_ERROR(CheckNoCheckpoint(files, flags.checkpoints.model_dir));
  std::unique_ptr<OutputLock> lock(new OutputLock(&files));
  if (flags.training.Infers()) {
    SHOAL_RETURN_IF_ERROR(lock->LockPredictions(flags));
    return lock;
  }
  if (!flags.Saves()) return std::unique_ptr<OutputLock>();
  if (flags.checkpoints.resume == CheckpointFlags::Resume::kMust &&
      absl::IsNotFound(
          files.ListDirectory(flags.checkpoints.model_dir).status())) {
    return absl::NotFoundError(
        absl::StrCat("--resume=must: ", flags.checkpoints.model_dir,
                     ": holds no valid checkpoint"));
  }
  SHOAL_RETURN_IF_ERROR(lock->LockModelDirectory(flags, logger));
  return lock;
}

absl::Duration DirectoryPatience(const JobFlags& flags) {
  return flags.deadlines.silent_after + absl::Seconds(1);
}

absl::StatusOr<std::unique_ptr<GroupLock>> LockWithServers(
    const FileSystem& files, const JobFlags& flags, StartNumber start) {
  if (!flags.Saves()) return std::unique_ptr<GroupLock>();
  SHOAL_RETURN_IF_ERROR(
      MakeDurably(files, flags.checkpoints.model_dir,
                  Missing(files, flags.checkpoints.model_dir)));
  auto lock = GroupLock::Join(ServersLock(flags), start, ServerOf(start));
  if (lock.ok()) return lock;
  return ServersLockError(lock.status(), flags,
                          absl::StrCat("start ", absl::Hex(start)));
}

absl::Status PlanCheckpoints(const FileSystem& files, const JobFlags& flags,
                             const JobPlan& plan, Logger* logger,
                             CoordinatorOptions* options) {
  CheckpointOptions& checkpoints = options->checkpoints;
  checkpoints.save = flags.Saves();
  checkpoints.model_dir = flags.checkpoints.model_dir;
  checkpoints.same_command_resumes =
      flags.checkpoints.resume != CheckpointFlags::Resume::kNever;
  checkpoints.save_steps =
      static_cast<uint64_t>(flags.checkpoints.save_checkpoint_steps);
  checkpoints.save_every = flags.checkpoints.save_checkpoint_secs;
  checkpoints.model = plan.spec;
  checkpoints.map = plan.map;
  checkpoints.deadline = flags.checkpoints.save_timeout;
  checkpoints.stop_deadline = flags.checkpoints.stop_timeout;
  checkpoints.retry_for = flags.checkpoints.save_retry_timeout;
  checkpoints.keep = flags.checkpoints.keep_checkpoints;
  checkpoints.first_attempt =
      static_cast<uint64_t>(absl::ToUnixMicros(RealClock().Now()));
  if (flags.checkpoints.model_dir.empty()) return absl::OkStatus();
  if (checkpoints.save) {
    // Attempts of an earlier job that was interrupted: this job has the locks.
    auto removed = RemoveVoidAttempts(files, flags.checkpoints.model_dir);
    SHOAL_RETURN_IF_ERROR(Annotate(removed.status(), "--model_dir"));
    if (!removed->names.empty()) {
      logger->Info(absl::StrCat("removed incomplete checkpoints: ",
                                absl::StrJoin(removed->names, ", ")));
    }
  }
  std::vector<std::string> passed_over;
  auto newest = FindCheckpoint(files, flags, &passed_over);
  if (newest.ok()) {
    for (const std::string& why : passed_over) {
      logger->Warn(absl::StrCat("begins from an older checkpoint: ", why));
    }
  }
  SHOAL_ASSIGN_OR_RETURN(const bool begins,
                         BeginsFromNewest(newest, flags, logger));
  if (!begins) return absl::OkStatus();
  return BeginFrom(files, *std::move(newest), flags, plan, options);
}

CoordinatorWork::WriteManifest ManifestWriter(const FileSystem* files,
                                              const JobFlags& flags,
                                              Executor* executor,
                                              Logger* logger) {
  const CheckpointFlags& own = flags.checkpoints;
  return [files, model_dir = own.model_dir, keep = own.keep_checkpoints,
          executor, logger](std::string directory, Manifest manifest,
                            Done<ManifestText> done) {
    executor->Post([=, directory = std::move(directory),
                    manifest = std::move(manifest),
                    done = std::move(done)]() mutable {
      const std::string path = absl::StrCat(model_dir, "/", directory);
      const absl::Status written = WriteManifest(*files, path, manifest);
      absl::StatusOr<std::string> text = std::string();
      if (written.ok()) {
        text = ReadManifestBytes(*files, path);
      } else {
        text = written;
      }
      if (!text.ok()) {
        // The servers now remove their shards: a part of the manifest that may
        // be there must not make these files a checkpoint.
        files->Remove(JoinPath(path, kManifestFile)).IgnoreError();
        std::move(done)(text.status());
        return;
      }
      std::move(done)(TextOf(*std::move(text)));
      const auto removed = KeepNewest(*files, model_dir, directory, keep);
      if (removed.ok() && !removed->names.empty()) {
        logger->Info(absl::StrCat(
            "removed old checkpoints (--keep_checkpoints=", keep,
            "): ", absl::StrJoin(removed->names, ", ")));
      }
      if (!removed.ok()) {
        logger->Warn(
            absl::StrCat("old checkpoints could not be removed: ",
                         removed.status().message()));
      }
    });
  };
}

}  // namespace shoal
