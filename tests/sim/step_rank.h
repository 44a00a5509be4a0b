#ifndef SHOAL_TESTS_SIM_STEP_RANK_H_
#define SHOAL_TESTS_SIM_STEP_RANK_H_

#include <cstdint>
#include <deque>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tests/harness/simulated_process.h"
#include "worker/client/sharded_client.h"
#include "worker/train/sync_exchange.h"

namespace shoal {

class StepRun;

// One rank of a StepRun: pulls, computes and finishes the batches of its lane,
// one after the other, as a LeaseTrainer of depth 0 does.
class StepRank {
 public:
  StepRank(StepRun* run, uint32_t rank);

  static Life LifeOf(uint32_t rank) { return {1, 100 + rank}; }
  SimulatedExecutor* strand() { return process_.Strand("train"); }

  // Begins the next batch, unless the rank holds or a batch is in flight.
  void Begin();
  void Hold();
  void Resume();
  bool done() const { return ended_; }
  void Kill() { process_.Kill(); }

 private:
  // Before a call is made again: random, as in rpc/retry. With pauses of one
  // length, ranks could miss each other for ever.
  absl::Duration Pause();
  void Pull();
  void OnPulled(const absl::Status& status);
  void Compute();
  void Finish();
  void OnEnd(absl::StatusOr<StepEnd> end);
  void EndBatch();

  StepRun* const run_;
  const uint32_t rank_;
  SimulatedProcess process_;
  std::deque<uint32_t> lane_;  // indexes of batches
  std::unique_ptr<ShardedClient> client_;
  std::unique_ptr<SyncExchange> exchange_;
  TrainStep step_;
  bool in_flight_ = false;
  bool kept_ = false;
  bool holds_ = false;
  bool ended_ = false;  // the lane
};

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_STEP_RANK_H_
