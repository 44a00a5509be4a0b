#ifndef SHOAL_CMD_OPTIONS_FROM_FLAGS_H_
#define SHOAL_CMD_OPTIONS_FROM_FLAGS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/executor.h"
#include "base/file_system.h"
#include "base/logger.h"
#include "cluster/coordinator.h"
#include "cluster/predictions_file.h"
#include "core/model_spec.h"
#include "core/shard_map.h"
#include "launch/job_flags.h"
#include "models/model_options.h"
#include "partitioner/build_shard_map.h"
#include "ps/server/ps_loop.h"
#include "worker/data/data_format.h"
#include "worker/data/piece_reader.h"
#include "worker/data/quarantine.h"
#include "worker/train/worker_loop.h"

namespace shoal {

// What the flags say of a job, worked out: the same in all of its processes.
struct JobPlan {
  std::string job;     // its label, --job; may be empty
  std::string config;  // RegisterRequest::config
  ModelOptions model;
  ModelSpec spec;
  PartitionOptions partition;
  ShardMap map;
};

// The plan of a job over flags.ps shards. REQUIRES: flags.Validate() was OK.
// INVALID_ARGUMENT names the flag.
absl::StatusOr<JobPlan> PlanJob(const JobFlags& flags);

// The options of each component. What only the composition root knows (a PS's
// address, the sources of a worker) is left for it to fill in.
CoordinatorOptions CoordinatorOptionsFromFlags(const JobFlags& flags,
                                               const JobPlan& plan);
PsLoopOptions PsLoopOptionsFromFlags(const JobFlags& flags, const JobPlan& plan,
                                     int shard);
WorkerLoopOptions WorkerLoopOptionsFromFlags(const JobFlags& flags,
                                             const JobPlan& plan, int index);
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

// REQUIRES: flags.Validate() was OK.
DataFormat DataFormatFromFlags(const JobFlags& flags);

// With --task_type=infer, begins the file that --predictions_file names;
// otherwise nullptr. For the process that holds the coordinator.
absl::StatusOr<std::unique_ptr<PredictionsFile>> PredictionsFileFromFlags(
    const JobFlags& flags, const JobPlan& plan, const FileSystem* files);

// What the coordinator does its slow work with: the strand, and the file if
// there is one. Both outlive the coordinator.
CoordinatorWork CoordinatorWorkOf(Executor* strand, PredictionsFile* file);

}  // namespace shoal

#endif  // SHOAL_CMD_OPTIONS_FROM_FLAGS_H_
