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
#include "job/training_mode.h"
#include "launch/job_flags.h"
#include "ps/server/ps_loop.h"
#include "rpc/server.h"
#include "worker/data/piece_reader.h"
#include "worker/data/quarantine.h"
#include "worker/train/worker_loop.h"

namespace shoal {

// The plan of a job over flags.cluster.ps shards. REQUIRES: flags.Validate()
// was OK. INVALID_ARGUMENT names the flag.
absl::StatusOr<JobPlan> PlanJob(const JobFlags& flags);

// The metrics that judge the scores of the plan's model. The object lives for
// ever.
const ScoreMetrics& MetricsOf(const JobPlan& plan);

// The log of a process of this name.
LoggerOptions LoggerOptionsFromFlags(const JobFlags& flags, std::string name);

// The options of each component. The parts (job/ps_part.h, job/worker_part.h)
// fill in the index of a component, what it holds and what it reads.
CoordinatorOptions CoordinatorOptionsFromFlags(const JobFlags& flags,
                                               const JobPlan& plan);
PsLoopOptions PsLoopOptionsFromFlags(const JobFlags& flags);
WorkerLoopOptions WorkerLoopOptionsFromFlags(const JobFlags& flags);
// The limits of a PS's gRPC server. Its address and its token are not set.
RpcServerOptions RpcServerOptionsFromFlags(const JobFlags& flags);
AllReduceSettings AllReduceSettingsFromFlags(const JobFlags& flags);
// `quarantine` and `line_numbers`, which may be nullptr, must outlive every
// reader with these options.
PieceReaderOptions PieceReaderOptionsFromFlags(
    const JobFlags& flags, Quarantine* quarantine = nullptr,
    LineNumbers* line_numbers = nullptr);

// The quarantine into which a worker of this job writes its bad rows; nullptr:
// bad rows are not written. `file_system` and `logger` must outlive it. An
// error if --quarantine_dir cannot be written. The directory below --model_dir
// is tried with the first bad row: if it cannot be written, that is logged once
// and the job goes on.
absl::StatusOr<std::unique_ptr<Quarantine>> QuarantineFromFlags(
    const JobFlags& flags, const FileSystem* file_system, int worker,
    Logger* logger);

// With --task_type=infer, begins the file of predictions; otherwise nullptr.
// For the process that holds the coordinator.
absl::StatusOr<std::unique_ptr<PredictionsFile>> PredictionsFileFromFlags(
    const JobFlags& flags, const JobPlan& plan, const FileSystem* files);

// The coordinator's slow work: on `strand`, and into `file` unless it is null.
// Both outlive the coordinator.
CoordinatorWork CoordinatorWorkOf(Executor* strand, PredictionsFile* file);

}  // namespace shoal

#endif  // SHOAL_JOB_OPTIONS_FROM_FLAGS_H_
