#ifndef SHOAL_WORKER_TRAIN_WORKER_LOOP_H_
#define SHOAL_WORKER_TRAIN_WORKER_LOOP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/executor.h"
#include "base/logger.h"
#include "core/cluster_member.h"
#include "core/cluster_service.h"
#include "core/lease.h"
#include "core/rank_board.h"
#include "core/parameter_service.h"
#include "core/payload_bytes.h"
#include "core/session_messages.h"
#include "core/shard_map.h"
#include "models/model.h"
#include "worker/client/sharded_client.h"
#include "worker/data/batch_source.h"
#include "worker/train/gradient_exchange.h"
#include "worker/train/lease_trainer.h"

namespace shoal {

struct WorkerLoopOptions {
  // Options of the membership. registration.role is kWorker; rejoin is true.
  ClusterMemberOptions member;
  ShardMap map;
  LeaseTrainerOptions trainer;
  absl::Duration pull_timeout = absl::Seconds(10);
  absl::Duration push_timeout = absl::Seconds(10);
  // The first steps of each life, which are not among the step times that the
  // worker tells (TimeMeter).
  uint64_t warmup_steps = 0;
};

// The parts that a worker uses. WorkerPart (job/worker_part.h) sets `model` and
// `open_source`, and its owner sets the rest. All must outlive the loop's end.
struct WorkerLoopDependencies {
  ClusterService* cluster = nullptr;
  Model* model = nullptr;
  Logger* logger = nullptr;
  // Strand that pulls, computes and pushes batches.
  Executor* train = nullptr;
  // Strand for the session. It is never busy for long, so that heartbeats are
  // sent in time.
  Executor* control = nullptr;
  // Opens the batches of a lease; called on the train strand.
  absl::AnyInvocable<absl::StatusOr<std::unique_ptr<BatchSource>>(const Lease&)>
      open_source;
  // Makes new clients of all shards, by index, for this life of the worker;
  // called on the control strand for each view. The clients are destroyed on
  // the train strand when the life ends or at its next view. Their destruction
  // must cancel their calls in progress.
  absl::AnyInvocable<absl::StatusOr<
      std::vector<std::shared_ptr<ParameterService>>>(const ClusterView&,
                                                      const Life&)>
      connect;
  // Makes the exchange for a view, which takes the gradients as the mode of
  // training says. It may use the view's clients of the shards, which outlive
  // it. Called on the control strand.
  absl::AnyInvocable<std::unique_ptr<GradientExchange>(ShardedClient*,
                                                       ExchangeStart)>
      make_exchange;
  // Opens a port for the ring of the next generation, and returns its address.
  // Called on the control strand; null in a job without a ring.
  absl::AnyInvocable<absl::StatusOr<std::string>()> next_ring;
  // Returns the resources used by this process.
  absl::AnyInvocable<ResourceUsage()> usage;
  // The payload of this process; nullptr: it has no network.
  const PayloadCounters* bytes = nullptr;
  // May be nullptr; then there are no metrics.
  const WorkerTelemetry* telemetry = nullptr;
  // Where the worker stands, for its heartbeats; may be nullptr.
  RankBoard* board = nullptr;
  // A rank of the newest view's ring for people, "worker 2". If not null, the
  // log names the ranks that a view does not have any more. Called on the
  // control strand.
  std::function<std::string(int rank)> rank_name;
};

// One worker: a member of the job that trains its leases, with one LeaseTrainer
// per life and generation of ranks (core/generation_messages.h), and ends when
// the coordinator says so. A lost session ends only the life: its calls are
// cancelled, its leases are dropped, and the worker registers again for a new
// life. This is safe because a push is known by its data. A NewGeneration ends
// only the trainer; the worker answers it once the trainer is retired, and
// makes the next trainer for the next view.
//
// Thread-safe; its state belongs to the control strand.
class WorkerLoop {
 public:
  WorkerLoop(WorkerLoopOptions options, WorkerLoopDependencies deps);
  ~WorkerLoop();

  // Starts the loop and returns at once. `done` runs once, on the control
  // strand.
  void Start(absl::AnyInvocable<void(MemberEnd) &&> done);

  // Without `save_deadline` the worker waits for the batches in flight, at most
  // until the shutdown deadline, leaves the job and ends with OK. With it the
  // worker asks the coordinator to save the job and to end it with `reason`,
  // and goes on training until the coordinator says so. A worker that has not
  // joined the job yet leaves at once. A worker that has lost its life asks
  // when it has joined again. A worker whose job has not ended after the
  // save_deadline and the shutdown deadline leaves as without it. Only the
  // first call counts.
  void Stop(absl::Status reason,
            absl::Duration save_deadline = absl::ZeroDuration());

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_WORKER_LOOP_H_
