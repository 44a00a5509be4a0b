#ifndef SHOAL_TESTS_SIM_SIMULATED_WORKER_H_
#define SHOAL_TESTS_SIM_SIMULATED_WORKER_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "core/cluster_service.h"
#include "core/ids.h"
#include "core/lease.h"
#include "core/registration.h"
#include "core/session_messages.h"
#include "tests/harness/keyed_draw.h"
#include "tests/harness/simulated_executor.h"
#include "tests/sim/simulated_shard.h"

namespace shoal {

// The environment of a simulated worker. All members outlive the worker.
struct SimulatedWorkerDependencies {
  SimulatedExecutor* executor = nullptr;
  ClusterService* cluster = nullptr;  // as this process reaches it
  RegisterRequest registration;
  int num_shards = 0;
  // Random numbers of this start of the worker.
  KeyedDraw draw{0};
  // The number of examples of a piece.
  absl::AnyInvocable<uint64_t(LeasePurpose, uint32_t piece)> examples;
  absl::AnyInvocable<Verdict(const BatchId&)> verdict;
  // True if every shard holds exactly the state that this lease's evaluation
  // must see. Otherwise the worker sends other scores.
  absl::AnyInvocable<bool(const Lease&)> right_weights;
  // Sends a push to a shard, until it is acknowledged on the executor.
  absl::AnyInvocable<void(int shard, SimulatedPush, Task acknowledged)> push;
};

struct SimulatedWorkerOptions {
  absl::Duration batch_time = absl::Milliseconds(10);
  int in_flight = 2;  // batches
  // Says LeaseDone once its pushes are sent, not when they are acknowledged.
  bool done_too_early = false;
};

// A worker that "trains" by pushing batch ids: registers, holds a session, asks
// for leases, and begins anew when its session ends. Belongs to the simulator's
// thread.
class SimulatedWorker {
 public:
  SimulatedWorker(SimulatedWorkerOptions options,
                  SimulatedWorkerDependencies deps)
      : options_(options), deps_(std::move(deps)) {}

  void Start() { Register(); }
  // The worker does nothing until then; messages that arrive wait.
  void Freeze(absl::Duration span);
  // The connection breaks; the worker notices and registers again.
  void DropSession();
  void set_batch_time(absl::Duration time) { options_.batch_time = time; }

  bool training() const { return life_ != nullptr && life_->work != nullptr; }
  // Heard that the job is over, or was told so when it registered.
  bool ended() const { return ended_; }

 private:
  struct Work {
    Lease lease;
    std::deque<uint32_t> batches;  // to be pushed
    int unacknowledged = 0;        // batches
    bool all_sent = false;
  };
  struct OneLife {
    Life life;
    std::unique_ptr<ClusterSession> session;
    std::shared_ptr<Work> work;
    std::vector<uint64_t> sequences;  // by shard
    uint64_t examples = 0;
  };
  using LifePtr = std::shared_ptr<OneLife>;

  // Runs `task` of a life now, or when the worker is no longer frozen.
  void Run(LifePtr life, Task task);
  void After(absl::Duration delay, LifePtr life, Task task);
  void Register();
  void Open(Life life);
  void OnMessage(const LifePtr& life, CoordinatorMessage message);
  void Beat(const LifePtr& life);
  void StartLease(const LifePtr& life, Lease lease);
  // Scores the piece's rows from `row` on, a few at a time.
  void Evaluate(const LifePtr& life, const Lease& lease, uint64_t row);
  void PushNext(const LifePtr& life, const std::shared_ptr<Work>& work);
  void SendReport(const LifePtr& life, const Lease& lease);

  SimulatedWorkerOptions options_;
  SimulatedWorkerDependencies deps_;
  absl::Time frozen_until_ = absl::InfinitePast();
  bool ended_ = false;
  uint64_t registrations_ = 0;
  LifePtr life_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_SIMULATED_WORKER_H_
