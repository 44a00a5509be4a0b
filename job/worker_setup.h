#ifndef SHOAL_JOB_WORKER_SETUP_H_
#define SHOAL_JOB_WORKER_SETUP_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "base/file_system.h"
#include "base/logger.h"
#include "job/worker_part.h"
#include "launch/job_flags.h"
#include "worker/data/line_numbers.h"
#include "worker/data/quarantine.h"

namespace shoal {

// What a process with a worker prepares from its flags before the job knows of
// it: the files of the data on this host, and the place for bad rows.
class WorkerSetup {
 public:
  // Logs a warning if the files to train on hold rows that belong to the
  // evaluation (worker 0 alone). `files` outlives the setup. Errors: those of
  // SourcesFromFlags, QuarantineFromFlags and WorkerComputeFromFlags.
  static absl::StatusOr<std::unique_ptr<WorkerSetup>> Create(
      const JobFlags& flags, const FileSystem* files, Logger* logger);

  // The options of the worker, which refer to the setup. Call once.
  WorkerPartOptions TakeOptions() { return std::move(options_); }

  // "job a, 3 files to train on, 1 to evaluate on, backend oneDNN …".
  std::string Describe(const WorkerPart& part) const;

 private:
  explicit WorkerSetup(const FileSystem* files) : line_numbers_(files) {}

  std::string label_;  // "job a, ", or "" for a job without a label
  std::string files_text_;
  std::string compute_text_;  // of a replay; otherwise empty
  std::unique_ptr<Quarantine> quarantine_;
  LineNumbers line_numbers_;
  WorkerPartOptions options_;
};

}  // namespace shoal

#endif  // SHOAL_JOB_WORKER_SETUP_H_
