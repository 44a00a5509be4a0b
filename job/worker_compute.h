#ifndef SHOAL_JOB_WORKER_COMPUTE_H_
#define SHOAL_JOB_WORKER_COMPUTE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file_system.h"
#include "base/logger.h"
#include "base/processor_clock.h"
#include "base/sleeping_clock.h"
#include "core/compute_source.h"
#include "job/job_plan.h"
#include "launch/job_flags.h"
#include "models/compute_profile.h"
#include "models/model.h"

namespace shoal {

// The way in which a worker's model computes: as it is, no faster than another
// core would, with its times recorded into a file, or played by the times of a
// file (docs/benchmarking.md).
struct WorkerComputeOptions {
  ComputeSource source = ComputeSource::kReal;
  int batch_size = 0;  // of a whole batch; for records and replays
  std::string record;  // path of the file; empty: nothing is recorded
  // Null: the model computes.
  std::shared_ptr<const ComputeProfile> replay;
  std::string replay_path;
  double scale = 1;  // --compute_scale
};

// Reads --compute_profile. Errors, with the flag and the path: those of the
// file system and of ParseComputeProfile.
absl::StatusOr<WorkerComputeOptions> WorkerComputeFromFlags(
    const JobFlags& flags, const FileSystem& files);

// FAILED_PRECONDITION, with the flag and the path, if a profile is replayed
// that is not of the plan's model and batches.
absl::Status CheckReplay(const WorkerComputeOptions& options,
                         const JobPlan& plan);

// The model of one worker, decorated as the options say. Thread rule: that of
// Model; Finish may be called on any thread.
class WorkerCompute {
 public:
  // `model` computes. `files` and `logger` outlive the object. A worker other
  // than the first does not record. Errors: those of CheckReplay.
  static absl::StatusOr<std::unique_ptr<WorkerCompute>> Create(
      WorkerComputeOptions options, const JobPlan& plan, int worker,
      std::unique_ptr<Model> model, const FileSystem* files, Logger* logger);

  Model* model() { return model_.get(); }

  // The worker has ended: writes the record, or logs how exact the replay was.
  // What goes wrong is an error in the log, since the job has ended by then.
  void Finish();

 private:
  WorkerCompute() = default;

  RealSleepingClock clock_;
  ProcessorClock processor_;
  std::function<void()> finish_;  // null: there is nothing to do
  std::unique_ptr<Model> model_;
};

}  // namespace shoal

#endif  // SHOAL_JOB_WORKER_COMPUTE_H_
