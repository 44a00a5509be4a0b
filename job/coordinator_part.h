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

// The things that the leading process of a job prepares before any other
// process knows of the job.
struct Lead {
  std::unique_ptr<OutputLock> lock;  // null: the job writes no locked output
  CoordinatorOptions options;        // with checkpoints and the start number
  // The file that an inference writes; null in any other job.
  std::unique_ptr<PredictionsFile> predictions;
};

// Locks the job's output, finds the checkpoint that the job begins from, draws
// the job's start number and begins the file of its predictions, in this order.
// Call lock->Keep() when the job begins. `files` outlives the lead. Errors:
// those of LockOutput, PlanCheckpoints, DrawStartNumber and
// PredictionsFileFromFlags.
absl::StatusOr<Lead> TakeLead(const FileSystem* files, const JobFlags& flags,
                              const JobPlan& plan, Logger* logger,
                              absl::Time now);

// The places where the coordinator of `lead` does its slow work: it computes
// the AUC and writes predictions on `work`; on `disk` it writes manifests and
// reads the files that it sends. No server is probed. All arguments outlive the
// coordinator.
CoordinatorWork WorkOfLead(const Lead& lead, const JobFlags& flags,
                           const FileSystem* files, Executor* work,
                           Executor* disk, Logger* logger);

// Creates the coordinator of the job of `plan`; fills the plan into `options`.
// `telemetry` may be null. The other arguments are those of
// Coordinator::Create.
std::unique_ptr<Coordinator> ComposeCoordinator(
    const JobPlan& plan, CoordinatorOptions options, CoordinatorWork work,
    Executor* strand, Logger* logger, Telemetry* telemetry);

}  // namespace shoal

#endif  // SHOAL_JOB_COORDINATOR_PART_H_
