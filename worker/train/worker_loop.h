#ifndef SHOAL_WORKER_TRAIN_WORKER_LOOP_H_
#define SHOAL_WORKER_TRAIN_WORKER_LOOP_H_

#include <memory>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/executor.h"
#include "base/logger.h"
#include "core/cluster_member.h"
#include "core/cluster_service.h"
#include "core/lease.h"
#include "core/parameter_service.h"
#include "core/session_messages.h"
#include "core/shard_map.h"
#include "models/model.h"
#include "worker/client/sharded_client.h"
#include "worker/data/batch_source.h"
#include "worker/train/gradient_exchange.h"
#include "worker/train/lease_trainer.h"

namespace shoal {

struct WorkerLoopOptions {
  // registration.role is kWorker; rejoin is true.
  ClusterMemberOptions member;
  ShardMap map;
  LeaseTrainerOptions trainer;
  absl::Duration pull_timeout = absl::Seconds(10);
  absl::Duration push_timeout = absl::Seconds(10);
};

// What a worker is made of. WorkerPart (job/worker_part.h) fills in the model
// and open_source, and its owner the rest. All outlive the loop's end.
struct WorkerLoopDependencies {
  ClusterService* cluster = nullptr;
  Model* model = nullptr;
  Logger* logger = nullptr;
  // Strand on which batches are pulled, computed and pushed.
  Executor* train = nullptr;
  // Strand for the session: never busy for long, so that heartbeats are timely.
  Executor* control = nullptr;
  // Opens the batches of a lease; called on the train strand.
  absl::AnyInvocable<absl::StatusOr<std::unique_ptr<BatchSource>>(const Lease&)>
      open_source;
  // New clients of all shards, by index; called on the control strand for each
  // view. They end on the train strand with the life or at its next view, and
  // their end must cancel the calls in progress on them.
  absl::AnyInvocable<absl::StatusOr<
      std::vector<std::shared_ptr<ParameterService>>>(const ClusterView&)>
      connect;
  // What becomes of the gradients under a view: a mode of training. Over the
  // view's clients of the shards, which outlive it; called on the control
  // strand.
  absl::AnyInvocable<std::unique_ptr<GradientExchange>(ShardedClient*)>
      make_exchange;
  // Resources used by this process.
  absl::AnyInvocable<ResourceUsage()> usage;
  // May be nullptr: nothing is measured.
  const WorkerTelemetry* telemetry = nullptr;
};

// One worker: a member of the job that trains what is leased to it through one
// LeaseTrainer a life, and ends when the coordinator says so. A lost session
// costs its life alone: its calls are cancelled, its leases are dropped, and
// the worker registers again for a new life, which is safe since a push is
// known by its data.
//
// Thread-safe; its state belongs to the control strand.
class WorkerLoop {
 public:
  WorkerLoop(WorkerLoopOptions options, WorkerLoopDependencies deps);
  ~WorkerLoop();

  // Begins; returns at once. `done` runs once, on the control strand.
  void Start(absl::AnyInvocable<void(MemberEnd) &&> done);

  // Finishes the batches in flight, at most for the shutdown deadline, leaves
  // the job and ends with OK.
  void Stop();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_WORKER_LOOP_H_
