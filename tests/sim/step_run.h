#ifndef SHOAL_TESTS_SIM_STEP_RUN_H_
#define SHOAL_TESTS_SIM_STEP_RUN_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "cluster/step_closer.h"
#include "core/shard_map.h"
#include "core/step_messages.h"
#include "ps/shard/parameter_shard.h"
#include "ps/shard/step_shard.h"
#include "tests/harness/keyed_draw.h"
#include "tests/harness/simulated_executor.h"
#include "tests/harness/simulated_network.h"
#include "tests/harness/simulated_process.h"

namespace shoal {

class StepRank;

struct StepRunOptions {
  uint32_t ranks = 3;
  int shards = 2;
  uint32_t batches = 12;  // of each rank
  uint32_t backup_workers = 0;
  NetworkFaults faults;
  // Mean time between two holds; zero: there is no hold.
  absl::Duration hold_every;
  // The timeout of a push. If it is short, parked pushes are taken out.
  absl::Duration push_timeout = absl::Seconds(5);
};

// The steps of a job of --mode=sync: the SyncExchange of each rank, StepShards
// before real shards, and the StepCloser, over a network whose messages are
// late, lost and repeated. A dropped batch goes to the end of its rank's lane.
// Holds are asked for at random times. One thread; a function of the seed.
class StepRun {
 public:
  StepRun(uint64_t seed, const StepRunOptions& options);
  ~StepRun();

  // Runs the job to its end. Returns the first promise that is broken, or "".
  std::string Run();

  uint64_t dropped() const { return dropped_; }
  int holds() const { return holds_; }
  // Parked pushes that shard 0 reported as taken out.
  uint64_t taken_out() const { return taken_out_; }

 private:
  friend class StepRank;
  struct Server {
    std::unique_ptr<SimulatedProcess> process;
    std::shared_ptr<ParameterShard> shard;
    std::shared_ptr<StepShard> steps;
  };

  const StepRunOptions& options() const { return options_; }
  const ShardMap& map() const { return map_; }
  void MakeShards();
  // Runs `task` on the strand a little later, in order with all messages of
  // this channel.
  void Send(const std::string& channel, SimulatedExecutor* to, Task task);
  void Fail(const std::string& what) {
    if (failure_.empty()) failure_ = what;
  }

  // The coordinator.
  void OnReports(std::vector<StepReport> reports);
  void OnLaneEnd(uint32_t rank);
  void OnHeld(uint32_t rank);
  void Step();
  void Close(const CloseStep& close);
  void AskForHold();
  void CheckHeld();
  // What is broken at the end.
  void CheckEnd();
  // Makes all rows of the shard, and returns its digest.
  uint64_t TouchAndDigest(int shard);

  const StepRunOptions options_;
  const KeyedDraw draw_;
  Simulator simulator_;
  SimulatedNetwork network_;
  SimulatedProcess coordinator_{&simulator_, "coordinator", 1};
  ShardMap map_;
  std::vector<Server> servers_;
  std::vector<std::unique_ptr<StepRank>> ranks_;
  std::unique_ptr<StepCloser> closer_;
  std::map<std::string, absl::Time> channels_;  // time of the newest message
  uint64_t sent_ = 0;
  std::vector<int> open_lanes_;
  std::vector<PushedBatches> closed_;  // the batches of each step
  uint32_t held_ = 0;                  // ranks that hold
  bool holding_ = false;
  int holds_ = 0;
  uint64_t dropped_ = 0;
  uint64_t taken_out_ = 0;
  std::string failure_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_STEP_RUN_H_
