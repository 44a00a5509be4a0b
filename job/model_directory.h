#ifndef SHOAL_JOB_MODEL_DIRECTORY_H_
#define SHOAL_JOB_MODEL_DIRECTORY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
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

// The model directory (--model_dir): the locks of the processes that write into
// it and, for the process with the coordinator, the checkpoint that a job
// begins from and the manifests of the checkpoints that it writes.
//
// Two locks guard the directory. The process with the coordinator holds
// MODEL_DIR/LOCK, so a directory has one job on that host. The servers of one
// start number hold MODEL_DIR/LOCK.ps together, on every host and disk that has
// a part of the job's checkpoints, until they end. A process of a job that
// saves reads, writes and removes nothing in the directory before it has its
// locks.

inline constexpr char kLockFile[] = "LOCK";
inline constexpr char kServersLockFile[] = "LOCK.ps";

// The locks of the job's output. A job that is refused leaves nothing behind:
// unless Keep was called, the destructor also removes what LockOutput made, and
// the file of the start number if there was no such file before.
class OutputLock {
 public:
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

  // Lets the other servers of the job with this start number take LOCK.ps too.
  // The servers learn the number, and so ask for the lock, once the job has
  // begun.
  // Errors: those of GroupLock::Share.
  absl::Status Share(StartNumber start);

  // True if this process holds LOCK.
  bool of_model_directory() const { return servers_ != nullptr; }
  // Adds a line to the file of LOCK, for processes that look for the job. The
  // text that the job before this one left there, as in FileLock. REQUIRES:
  // of_model_directory().
  absl::Status AddLine(absl::string_view line) { return lock_->AddLine(line); }
  const std::string& left_before() const { return lock_->left_before(); }

  // The job begins: the destructor removes nothing.
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
  std::string start_;  // the file of the start number, if there was none before
  std::vector<std::string> made_;  // new directories, the innermost first
  bool kept_ = false;
};

// The name of this host, as LOCK has it.
std::string HostName();
// For the file of a lock that this process takes: "pid 12 on h1, since …".
std::string ThisProcess();

// Locks the job's output, so that no two jobs write to one place at a time. The
// process with the coordinator calls it.
//
// For a job that saves, this makes the model directory if it is missing, and
// takes LOCK, and LOCK.ps alone until Share. If servers of another job have
// LOCK.ps, it logs that and waits for them for DirectoryPatience. For an
// inference, it locks the file of predictions by .NAME.lock beside it, which
// stays. nullptr: the job writes neither.
//
// Errors: FAILED_PRECONDITION names the process that has the lock, or the
// directory or device that is in the place of the file; NOT_FOUND:
// --resume=must and there is no such directory; INVALID_ARGUMENT: the directory
// is itself a checkpoint; those of GroupLock. `files` must outlive the lock.
absl::StatusOr<std::unique_ptr<OutputLock>> LockOutput(const FileSystem& files,
                                                       const JobFlags& flags,
                                                       Logger* logger);

// Time that a process waits for LOCK.ps: a little more than --silent_after, for
// which a server lives on when its coordinator has died.
absl::Duration DirectoryPatience(const JobFlags& flags);

// Makes the directory if it is missing, and takes LOCK.ps together with the
// servers of that start number; does not wait. Every server but PS 0 calls it
// when it is registered. nullptr: the job saves nothing. Errors:
// FAILED_PRECONDITION (servers of another job have the lock; the message says
// which), those of GroupLock.
absl::StatusOr<std::unique_ptr<GroupLock>> LockWithServers(
    const FileSystem& files, const JobFlags& flags, StartNumber start);

// Fills in options->checkpoints from the flags: whether and when the job saves,
// and by --checkpoint or --resume the one that it begins from, which is logged.
// A job that trains resumes from a checkpoint that fits it; any other job only
// reads the checkpoint's weights. Call after LockOutput. Errors:
// FAILED_PRECONDITION (the checkpoint's flags differ, or there is a checkpoint
// and --resume=never), NOT_FOUND (--resume=must and there is no checkpoint),
// those of the file system.
absl::Status PlanCheckpoints(const FileSystem& files, const JobFlags& flags,
                             const JobPlan& plan, Logger* logger,
                             CoordinatorOptions* options);

// A function that writes manifests on `executor`, and removes the oldest
// checkpoints beyond --keep_checkpoints. All arguments outlive the function.
CoordinatorWork::WriteManifest ManifestWriter(const FileSystem* files,
                                              const JobFlags& flags,
                                              Executor* executor,
                                              Logger* logger);

}  // namespace shoal

#endif  // SHOAL_JOB_MODEL_DIRECTORY_H_
