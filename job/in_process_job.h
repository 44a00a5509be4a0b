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
  int ps = 1;
  int workers = 1;
  std::string backend = "auto";
  // job, num_ps and num_workers are filled in, and of the checkpoints the model
  // and its map.
  CoordinatorOptions coordinator;
  // model sizes and seed are filled in.
  PieceReaderOptions reader;
  // Of every PS and every worker: deadlines, limits, pipeline depth. Who each
  // is and what it holds is filled in.
  PsLoopOptions ps_loop;
  WorkerLoopOptions worker_loop;
  // Read ahead on a thread for each open lease; otherwise on the train strand.
  bool prefetch = true;
  // Files to train on, and to evaluate on (may be none).
  std::vector<LocalSource> train;
  std::vector<LocalSource> eval;
};

struct InProcessJobDependencies {
  // All outlive the job.
  const FileSystem* file_system = nullptr;
  Logger* logger = nullptr;
  // The coordinator's strand and every session's.
  Executor* control = nullptr;
  // Where the shards' completions run.
  Executor* completions = nullptr;
  // Where shards are saved and loaded; null: on `completions`.
  Executor* background = nullptr;
  // What the coordinator does its slow work with; see there.
  CoordinatorWork work;
  // A strand a worker.
  std::vector<Executor*> train;
  // May be null: nothing is measured.
  Telemetry* telemetry = nullptr;
  // Stands between worker and shard, for tests that inject faults or count;
  // null: nothing does.
  absl::AnyInvocable<std::shared_ptr<ParameterService>(
      int worker, int shard, std::shared_ptr<ParameterService>)>
      wrap_service;
};

// A whole job composed in one process without a network: coordinator, shards
// and workers, the same objects as in the job of many processes, joined by
// their seams. `shoal train` runs it on threads, exact tests and the simulator
// on a single-threaded executor.
class InProcessJob {
 public:
  static absl::StatusOr<std::unique_ptr<InProcessJob>> Create(
      InProcessJobOptions options, InProcessJobDependencies deps);
  // REQUIRES: not started, or `done` has run.
  ~InProcessJob();

  // Begins; returns at once. `done` runs once, on the control strand, when the
  // job is over and every part of it has ended.
  void Start(absl::AnyInvocable<void(JobReport) &&> done);

  // Ends the job with `reason`. Thread-safe.
  void Stop(absl::Status reason);
  // The same, once a checkpoint is saved, where the job saves any.
  void SaveAndStop(absl::Status reason);
  // The coordinator, for requests to it. Lives as long as the job.
  ClusterService* cluster();

  // The job as it stands. Thread-safe.
  JobReport Report() const;

  // After the end: the shards with the trained model.
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
