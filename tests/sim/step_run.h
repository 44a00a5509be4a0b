#ifndef SHOAL_TESTS_SIM_STEP_RUN_H_
#define SHOAL_TESTS_SIM_STEP_RUN_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "cluster/ledger.h"
#include "cluster/step_closer.h"
#include "core/generation_messages.h"
#include "core/shard_map.h"
#include "core/step_messages.h"
#include "ps/shard/parameter_shard.h"
#include "ps/shard/step_shard.h"
#include "tests/harness/keyed_draw.h"
#include "tests/harness/simulated_executor.h"
#include "tests/harness/simulated_network.h"
#include "tests/harness/simulated_process.h"
#include "tests/ps/shard_set.h"

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
  // Workers that are killed, one after the other. Each comes back as another
  // process. Some are frozen instead: they are lost too, and thaw later.
  uint32_t losses = 0;
};

// The steps of a job of --mode=sync: the SyncExchange of each rank, StepShards
// before real shards, and the StepCloser, over a network whose messages are
// late, lost and repeated. A dropped batch goes to the end of its rank's lane.
// Holds are asked for at random times. With losses, the job goes on in
// generations, as docs/decisions/0032-generations.md says, with the real Ledger
// and a deal of what is left. One thread; a function of the seed.
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
  uint64_t generations() const { return generation_; }
  // The longest time from a loss or a return to the next generation.
  absl::Duration longest_change() const { return longest_change_; }
  uint64_t mended() const { return ledger_.totals().mended; }
  // Workers that thawed, and whose push was refused.
  int refused() const { return refused_; }
  // Batches of closed steps that a shard applied the step without.
  uint64_t left_out() const { return left_out_; }

 private:
  friend class StepRank;
  struct Server {
    std::unique_ptr<SimulatedProcess> process;
    std::shared_ptr<ParameterShard> shard;
    std::shared_ptr<StepShard> steps;
    // By step: the batches that the shard applied or rejected, with the lease,
    // as the answers to their pushes said.
    std::map<uint64_t, std::map<BatchId, uint64_t>> applied;
    uint64_t ready = 0;   // the newest generation whose end it has told
    uint64_t steps_ready = 0;
  };
  struct Worker {
    StepRank* rank = nullptr;  // the newest start
    bool in_job = false;
    uint64_t ready = 0;
  };

  const StepRunOptions& options() const { return options_; }
  const ShardMap& map() const { return map_; }
  void MakeShards();
  void StartRank(uint32_t rank);
  // Runs `task` on the strand a little later, in order with all messages of
  // this channel.
  void Send(const std::string& channel, SimulatedExecutor* to, Task task);
  void SendToServer(size_t server, absl::AnyInvocable<void(Server&) &&> task);
  void SendToRank(StepRank* rank, absl::AnyInvocable<void(StepRank&) &&> task);
  void Fail(const std::string& what) {
    if (failure_.empty()) failure_ = what;
  }

  // The coordinator.
  void OnReports(size_t server, std::vector<StepReport> reports);
  void OnMarks(size_t server, const MarkDelta& delta);
  void OnLaneEnd(Life life, uint64_t generation);
  void OnHeld(Life life, uint64_t number);
  void OnRankReady(Life life, uint64_t generation);
  void OnRefused() { ++refused_; }
  void Step();
  void Close(const CloseStep& close);
  void AskForHold();
  void Release();
  void CheckHeld();
  bool Over() const;
  // The rank of the worker; -1: it is not in the job.
  int RankOf(Life life) const;
  // A life that was lost, whose process may still run.
  bool IsLost(Life life) const { return lost_.contains(life); }

  // Generations.
  void LoseLater();
  void LoseNow(uint32_t rank);
  void OnLost(uint32_t rank, Life life);
  void OnJoined(uint32_t rank);
  void EndGeneration();
  void BeginGeneration();
  void TakeMarksOften(size_t server);

  // What is broken at the end.
  void CheckEnd();
  void CheckApplied();
  void CheckShard(int shard);
  // Compares what the shard has with a serial run of its steps.
  void Compare(int shard, ShardSet* serial);

  const StepRunOptions options_;
  const KeyedDraw draw_;
  Simulator simulator_;
  SimulatedNetwork network_;
  SimulatedProcess coordinator_{&simulator_, "coordinator", 1};
  ShardMap map_;
  std::vector<Server> servers_;
  std::vector<std::unique_ptr<StepRank>> ranks_;  // all that were started
  std::vector<Worker> workers_;                   // by rank
  std::unique_ptr<StepCloser> closer_;
  std::map<std::string, absl::Time> channels_;  // time of the newest message
  uint64_t sent_ = 0;
  std::vector<int> open_lanes_;        // by lane of the generation
  std::vector<Life> lanes_;            // the lives of the generation
  std::vector<PushedBatches> closed_;  // the batches of each step
  Ledger ledger_;
  uint64_t leases_ = 0;
  uint32_t lives_ = 0;
  uint64_t generation_ = 1;
  bool between_ = false;
  absl::Time changing_since_;
  absl::Duration longest_change_;
  uint64_t first_step_ = 1;  // of the generation
  std::set<Life> lost_;      // of all generations
  uint32_t losses_ = 0;
  std::set<Life> held_;    // ranks that hold
  uint64_t holding_ = 0;   // number of the hold; 0: none is asked for
  int holds_ = 0;
  uint64_t asked_ = 0;
  uint64_t dropped_ = 0;
  uint64_t taken_out_ = 0;
  uint64_t left_out_ = 0;
  int refused_ = 0;
  std::string failure_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_STEP_RUN_H_
