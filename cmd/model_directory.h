#ifndef SHOAL_CMD_MODEL_DIRECTORY_H_
#define SHOAL_CMD_MODEL_DIRECTORY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/executor.h"
#include "base/file_lock.h"
#include "base/file_system.h"
#include "base/logger.h"
#include "cluster/coordinator.h"
#include "cmd/options_from_flags.h"
#include "launch/job_flags.h"

namespace shoal {

// The model directory (--model_dir) as the process with the coordinator sees
// it: who may write into it, what a job begins from, and how a checkpoint
// becomes one.

// The lock of what a job writes. A job that is refused leaves none of it
// behind: unless Keep was called, the end of the object also removes what
// LockOutput made, and the file of the start number, where there was none.
class OutputLock {
 public:
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

  // The job begins.
  void Keep() { kept_ = true; }

 private:
  friend absl::StatusOr<std::unique_ptr<OutputLock>> LockOutput(
      const FileSystem& files, const JobFlags& flags);

  explicit OutputLock(const FileSystem* files) : files_(files) {}
  absl::Status LockModelDirectory(const std::string& model_dir);
  absl::Status LockPredictions(const JobFlags& flags);

  const FileSystem* const files_;
  std::unique_ptr<FileLock> lock_;
  std::vector<std::string> made_;  // or to be made; the innermost first
  bool kept_ = false;
};

// Locks what the job writes, so that no two write one place at a time: the
// directory, for a job that saves into it, which is made if need be; the file
// of an inference's predictions (by .NAME.lock beside it, which stays).
// nullptr: the job writes neither. FAILED_PRECONDITION names who has it, or the
// directory or device that was to be a file; NOT_FOUND: --resume=must and there
// is no such directory; INVALID_ARGUMENT: the directory is itself a checkpoint.
// `files` must outlive the lock.
absl::StatusOr<std::unique_ptr<OutputLock>> LockOutput(const FileSystem& files,
                                                       const JobFlags& flags);

// After LockOutput. Fills in options->checkpoints from the flags: whether and
// when the job saves, and by --resume what it begins from, which it says to the
// log. A job that trains goes on from a checkpoint that fits it; any other one
// reads its weights alone. Errors: FAILED_PRECONDITION (the checkpoint's flags
// differ, or --resume=never where there is one), NOT_FOUND (--resume=must and
// there is none), the file system's.
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

#endif  // SHOAL_CMD_MODEL_DIRECTORY_H_
