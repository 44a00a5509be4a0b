#ifndef SHOAL_JOB_OPTIONS_FROM_FLAGS_H_
#define SHOAL_JOB_OPTIONS_FROM_FLAGS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/executor.h"
#include "base/file_system.h"
#include "base/logger.h"
#include "cluster/predictions_file.h"
#include "coordinator/coordinator.h"
#include "core/score_metrics.h"
#include "job/job_plan.h"
#include "launch/job_flags.h"
#include "ps/server/ps_loop.h"
#include "worker/data/data_format.h"
#include "worker/data/piece_reader.h"
#include "worker/data/quarantine.h"
#include "worker/train/worker_loop.h"

namespace shoal {

// The plan of a job over flags.cluster.ps shards. REQUIRES: flags.Validate()
// was OK. INVALID_ARGUMENT names the flag.
absl::StatusOr<JobPlan> PlanJob(const JobFlags& flags);

// How the scores of the plan's model are judged; lives for ever.
const ScoreMetrics& MetricsOf(const JobPlan& plan);

// The options of each component. Who it is, what it holds and what it reads is
// left to the parts (job/ps_part.h, job/worker_part.h).
CoordinatorOptions CoordinatorOptionsFromFlags(const JobFlags& flags,
                                               const JobPlan& plan);
PsLoopOptions PsLoopOptionsFromFlags(const JobFlags& flags);
WorkerLoopOptions WorkerLoopOptionsFromFlags(const JobFlags& flags);
// `quarantine`, which may be nullptr, must outlive what is read with them.
PieceReaderOptions PieceReaderOptionsFromFlags(
    const JobFlags& flags, Quarantine* quarantine = nullptr);

// Where a worker of this job puts its bad rows; nullptr: nowhere.
// `file_system` and `logger` must outlive it. An error if nothing can be
// written where --quarantine_dir says. The place that a model directory offers
// is looked at with the first bad row; where it cannot be written the log says
// so once, and the job goes on.
absl::StatusOr<std::unique_ptr<Quarantine>> QuarantineFromFlags(
    const JobFlags& flags, const FileSystem* file_system, int worker,
    Logger* logger);

DataFormat DataFormatFromFlags(const JobFlags& flags);

// With --task_type=infer, begins the file that --predictions_file names;
// otherwise nullptr. For the process that holds the coordinator.
absl::StatusOr<std::unique_ptr<PredictionsFile>> PredictionsFileFromFlags(
    const JobFlags& flags, const JobPlan& plan, const FileSystem* files);

// What the coordinator does its slow work with: the strand, and the file if
// there is one. Both outlive the coordinator.
CoordinatorWork CoordinatorWorkOf(Executor* strand, PredictionsFile* file);

}  // namespace shoal

#endif  // SHOAL_JOB_OPTIONS_FROM_FLAGS_H_
