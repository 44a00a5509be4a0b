#ifndef SHOAL_JOB_MODEL_DIRECTORY_H_
#define SHOAL_JOB_MODEL_DIRECTORY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/executor.h"
#include "base/file_lock.h"
#include "base/file_system.h"
#include "base/group_lock.h"
#include "base/logger.h"
#include "coordinator/coordinator.h"
#include "core/ids.h"
#include "job/job_plan.h"
#include "launch/job_flags.h"

namespace shoal {

// The model directory (--model_dir): who may write into it and, as the process
// with the coordinator sees it, what a job begins from and how a checkpoint
// becomes one.
//
// Two locks guard it. MODEL_DIR/LOCK is the coordinator's: its host has one job
// a directory. MODEL_DIR/LOCK.ps is the servers': those of one start number
// hold it together, on every host and disk that has a part of the job's
// checkpoints, until they end. Nothing is read, written or removed there by a
// job that saves before its process has the locks.

// The locks of what a job writes. A job that is refused leaves none of it
// behind: unless Keep was called, the end of the object also removes what
// LockOutput made, and the file of the start number, where there was none.
class OutputLock {
 public:
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

  // The job has its start number: its other servers may have LOCK.ps too. They
  // know the number, and so ask, once the job has begun. Errors: those of
  // GroupLock::Share.
  absl::Status Share(StartNumber start);

  // The job begins.
  void Keep() { kept_ = true; }

 private:
  friend absl::StatusOr<std::unique_ptr<OutputLock>> LockOutput(
      const FileSystem& files, const JobFlags& flags, Logger* logger);

  explicit OutputLock(const FileSystem* files) : files_(files) {}
  absl::Status LockModelDirectory(const JobFlags& flags, Logger* logger);
  absl::Status LockPredictions(const JobFlags& flags);

  const FileSystem* const files_;
  std::unique_ptr<FileLock> lock_;
  std::unique_ptr<GroupLock> servers_;  // LOCK.ps
  std::string start_;  // the file of the start number, where there was none
  std::vector<std::string> made_;  // directories, the innermost first
  bool kept_ = false;
};

// Locks what the job writes, so that no two write one place at a time, by the
// process with the coordinator: the directory, for a job that saves into it,
// which is made if need be, and LOCK.ps alone until Share; the file of an
// inference's predictions (by .NAME.lock beside it, which stays). Servers of
// another job that have LOCK.ps are waited for, which is said to the log, for
// DirectoryPatience. nullptr: the job writes neither. FAILED_PRECONDITION names
// who has it, or the directory or device that was to be a file; NOT_FOUND:
// --resume=must and there is no such directory; INVALID_ARGUMENT: the directory
// is itself a checkpoint; those of GroupLock. `files` must outlive the lock.
absl::StatusOr<std::unique_ptr<OutputLock>> LockOutput(const FileSystem& files,
                                                       const JobFlags& flags,
                                                       Logger* logger);

// How long a process waits for LOCK.ps: a server whose coordinator died lives
// for --silent_after.
absl::Duration DirectoryPatience(const JobFlags& flags);

// Any other server, when it has a life: makes the directory, if need be, and
// takes LOCK.ps with the servers of that start number; does not wait. nullptr:
// the job saves nothing. Errors: FAILED_PRECONDITION (another job's servers
// have it; the message says which), those of GroupLock.
absl::StatusOr<std::unique_ptr<GroupLock>> LockWithServers(
    const FileSystem& files, const JobFlags& flags, StartNumber start);

// After LockOutput. Fills in options->checkpoints from the flags: whether
// and when the job saves, and by --resume what it begins from, which it says to
// the log. A job that trains goes on from a checkpoint that fits it; any other
// one reads its weights alone. Errors: FAILED_PRECONDITION (the checkpoint's
// flags differ, or --resume=never where there is one), NOT_FOUND (--resume=must
// and there is none), the file system's.
absl::Status PlanCheckpoints(const FileSystem& files, const JobFlags& flags,
                             const JobPlan& plan, Logger* logger,
                             CoordinatorOptions* options);

// Writes manifests on `executor`, and removes the oldest checkpoints beyond
// --keep_checkpoints. All outlive it.
CoordinatorWork::WriteManifest ManifestWriter(const FileSystem* files,
                                              const JobFlags& flags,
                                              Executor* executor,
                                              Logger* logger);

}  // namespace shoal

#endif  // SHOAL_JOB_MODEL_DIRECTORY_H_
