#ifndef SHOAL_JOB_COORDINATOR_PART_H_
#define SHOAL_JOB_COORDINATOR_PART_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/executor.h"
#include "base/file_system.h"
#include "base/logger.h"
#include "base/telemetry.h"
#include "cluster/predictions_file.h"
#include "coordinator/coordinator.h"
#include "job/job_plan.h"
#include "job/model_directory.h"
#include "launch/job_flags.h"

namespace shoal {

// What a process takes for its job to lead it, before any process knows of the
// job.
struct Lead {
  std::unique_ptr<OutputLock> lock;  // null: the job writes nothing
  CoordinatorOptions options;        // with checkpoints and the start number
  // Of an inference; otherwise null.
  std::unique_ptr<PredictionsFile> predictions;
};

// Locks what the job writes, says what it begins from, draws its start number
// and begins the file of its predictions, in this order. Once the job begins,
// call lock->Keep(). `files` outlives the lead. Errors: those of LockOutput,
// PlanCheckpoints, DrawStartNumber and PredictionsFileFromFlags.
absl::StatusOr<Lead> TakeLead(const FileSystem* files, const JobFlags& flags,
                              const JobPlan& plan, Logger* logger,
                              absl::Time now);

// What the coordinator of `lead` does its slow work with: the AUC and the
// predictions on `work`, manifests on `disk`. No server is probed. All outlive
// it.
CoordinatorWork WorkOfLead(const Lead& lead, const JobFlags& flags,
                           const FileSystem* files, Executor* work,
                           Executor* disk, Logger* logger);

// The coordinator of the job of `plan`, which is filled into `options`.
// `telemetry` may be null; all else as Coordinator::Create.
std::unique_ptr<Coordinator> ComposeCoordinator(
    const JobPlan& plan, CoordinatorOptions options, CoordinatorWork work,
    Executor* strand, Logger* logger, Telemetry* telemetry);

}  // namespace shoal

#endif  // SHOAL_JOB_COORDINATOR_PART_H_
