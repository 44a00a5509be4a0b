#ifndef SHOAL_TESTS_SIM_STEP_RANK_H_
#define SHOAL_TESTS_SIM_STEP_RANK_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "tests/harness/simulated_process.h"
#include "worker/client/sharded_client.h"
#include "worker/train/sync_exchange.h"

namespace shoal {

class StepRun;

// A lane of a StepRun: the batches that a rank trains in a generation, in
// order, under one lease.
struct StepLane {
  uint64_t generation = 1;
  uint64_t lease = 0;
  std::deque<BatchId> batches;
};

// One start of a worker of a StepRun: pulls, computes and finishes the batches
// of its lane, one after the other, as a LeaseTrainer of depth 0 does.
class StepRank {
 public:
  StepRank(StepRun* run, uint32_t rank, int start, Life life);

  Life life() const { return life_; }
  SimulatedExecutor* strand() { return process_.Strand("train"); }
  SimulatedProcess* process() { return &process_; }

  // Begins a generation, with a new client and exchange.
  void Join(StepLane lane);
  // Ends the generation: NewGeneration of this number.
  void Retire(uint64_t generation);
  void Hold(uint64_t number);
  void Resume();
  void Kill() { process_.Kill(); }

 private:
  // What the rank has for one generation. Calls of an old generation may still
  // be in flight, so its state is kept.
  struct Era {
    StepLane lane;
    std::unique_ptr<ShardedClient> client;
    std::unique_ptr<SyncExchange> exchange;
    TrainStep step;
    bool in_flight = false;
    bool kept = false;
    uint64_t hold = 0;   // 0: it does not hold
    bool over = false;   // it begins nothing more
    bool retired = false;
    bool ended = false;  // the lane
  };

  // Begins the next batch, unless the rank holds or a batch is in flight.
  void Begin(Era* era);
  // Before a call is made again: random, as in rpc/retry. With pauses of one
  // length, ranks could miss each other for ever.
  absl::Duration Pause();
  // Runs the task later, if the generation goes on.
  void After(absl::Duration pause, Era* era, void (StepRank::*task)(Era*));
  void Pull(Era* era);
  void OnPulled(Era* era, const absl::Status& status);
  void Compute(Era* era);
  void Finish(Era* era);
  void OnEnd(Era* era, absl::StatusOr<StepEnd> end);
  void EndBatch(Era* era);
  void FinishKept(Era* era);
  void Tell(absl::AnyInvocable<void() &&> message);
  void TellReady();

  StepRun* const run_;
  const uint32_t rank_;
  const Life life_;
  SimulatedProcess process_;
  uint64_t asked_ = 0;  // the number of the newest Retire
  std::vector<std::unique_ptr<Era>> eras_;  // the last one is the present one
};

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_STEP_RANK_H_
