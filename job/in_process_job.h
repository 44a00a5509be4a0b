#ifndef SHOAL_JOB_IN_PROCESS_JOB_H_
#define SHOAL_JOB_IN_PROCESS_JOB_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/executor.h"
#include "base/file_system.h"
#include "base/logger.h"
#include "base/telemetry.h"
#include "cluster/job_report.h"
#include "coordinator/coordinator.h"
#include "core/cluster_member.h"
#include "core/cluster_service.h"
#include "core/parameter_service.h"
#include "job/training_mode.h"
#include "job/worker_compute.h"
#include "models/create_model.h"
#include "partitioner/build_shard_map.h"
#include "ps/server/ps_loop.h"
#include "ps/shard/parameter_shard.h"
#include "worker/data/piece_reader.h"
#include "worker/data/source_list.h"
#include "worker/train/worker_loop.h"

namespace shoal {

struct InProcessJobOptions {
  ModelOptions model;
  PartitionOptions partition;
  bool canary = false;  // core/canary.h
  int ps = 1;  // as in JobPlanOptions; not used in a mode without servers
  int workers = 1;
  std::string backend = "auto";
  const TrainingModeKind* mode = &DefaultKind();
  AllReduceSettings ring;
  WorkerComputeOptions compute;
  // Create fills in job, ps, num_workers and seed, and the model and the
  // map of the checkpoints.
  CoordinatorOptions coordinator;
  // Create fills in the model's sizes and the seed.
  PieceReaderOptions reader;
  // Deadlines, limits and pipeline depth of every PS and every worker. Create
  // fills in the index of each part, what it holds, and what `mode` asks of it.
  PsLoopOptions ps_loop;
  WorkerLoopOptions worker_loop;
  // True to read ahead on one thread per open lease; false: on the train
  // strand.
  bool prefetch = true;
  // Files to train on, and files to evaluate on, which may be none.
  std::vector<LocalSource> train;
  std::vector<LocalSource> eval;
};

struct InProcessJobDependencies {
  // All outlive the job.
  const FileSystem* file_system = nullptr;
  Logger* logger = nullptr;
  // The strand of the coordinator and of all sessions.
  Executor* control = nullptr;
  // The executor that runs the shards' completions.
  Executor* completions = nullptr;
  // The executor that saves and loads shards; null: `completions`.
  Executor* background = nullptr;
  // The executors and functions of the coordinator's slow work.
  CoordinatorWork work;
  // One strand per worker.
  std::vector<Executor*> train;
  // Null: nothing is measured.
  Telemetry* telemetry = nullptr;
  // Wraps the service between a worker and a shard, for tests that inject
  // faults or count; null: nothing is wrapped.
  absl::AnyInvocable<std::shared_ptr<ParameterService>(
      int worker, int shard, std::shared_ptr<ParameterService>)>
      wrap_service;
};

// A whole job in one process without a network: coordinator, shards and
// workers. They are the same objects as in a job of many processes, and are
// joined at the same interfaces. `shoal train` runs the job on threads; exact
// tests and the simulator run it on a single-threaded executor.
class InProcessJob {
 public:
  // The job's label, which requests to its coordinator give.
  static constexpr char kJob[] = "in-process";

  static absl::StatusOr<std::unique_ptr<InProcessJob>> Create(
      InProcessJobOptions options, InProcessJobDependencies deps);
  // REQUIRES: not started, or `done` has run.
  ~InProcessJob();

  // Starts the job and returns at once. `done` runs once, on the control
  // strand, when the job is over and every part of it has ended.
  void Start(absl::AnyInvocable<void(JobReport) &&> done);

  // Ends the job with `reason`. Thread-safe.
  void Stop(absl::Status reason);
  // The same, but saves a checkpoint first if the job saves any.
  void SaveAndStop(absl::Status reason);
  // The coordinator, for requests to it. It lives as long as the job.
  ClusterService* cluster();

  // The job as it stands. Thread-safe.
  JobReport Report() const;

  // After the end: the shards with the trained model, by PS.
  const std::vector<std::shared_ptr<ParameterShard>>& shards() const;
  const ShardMap& map() const;
  const ModelSpec& model_spec() const;

 private:
  class Impl;
  explicit InProcessJob(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace shoal

#endif  // SHOAL_JOB_IN_PROCESS_JOB_H_
