#ifndef SHOAL_TESTS_WORKER_TRAIN_RING_RANK_H_
#define SHOAL_TESTS_WORKER_TRAIN_RING_RANK_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/executor.h"
#include "core/collective.h"
#include "core/unique_ids.h"
#include "models/backend/backend.h"
#include "models/model.h"
#include "models/model_options.h"
#include "ps/shard/parameter_shard.h"
#include "tests/ps/shard_set.h"
#include "worker/client/sharded_client.h"
#include "worker/train/ring_exchange.h"
#include "worker/train/train_step.h"

namespace shoal {

// The batches of all ranks: for each epoch, for each rank, the examples of each
// batch. Batch i of rank r in epoch e is (e, r, i).
using RingLanes = std::vector<std::vector<std::vector<int>>>;

// When a gradient is spoilt, which its rank finds after the computation.
enum class Spoilt {
  kRows,   // in a row, when the dense gradient may be summed already
  kDense,  // in the dense gradient, before its first range is final
};

// A bug of the replica of rank 1, at its third push.
enum class ReplicaBug {
  kNone,
  kSkips,     // it answers, and does not apply the step
  kOtherSum,  // it applies and marks another gradient
};

struct RingJob {
  ModelOptions model;  // field_size and feature_size must be set
  bool canary = false;
  // A bug of the job: all ranks train the batches of rank 0.
  bool same_batches = false;
  ReplicaBug replica_bug = ReplicaBug::kNone;
  // Parameter servers with the rows; the replicas then have the dense variables
  // alone, and the ranks are those of --mode=hybrid. 0: there are none.
  int servers = 0;
  // True: no two batches of a step use a row, so that the order of the ranks'
  // updates of rows within a step does not matter. In the next step another
  // rank uses the row.
  bool apart_in_step = false;
  // Set: the calls to servers travel on this executor, on which calls of a rank
  // that has died arrive too, pushes now and then twice or late. Null: they end
  // with the rank's generation.
  Executor* network = nullptr;
  // A bug of the job: the rows of a batch are not waited for.
  bool leaves_rows = false;
  RingLanes lanes;
  std::map<BatchId, Spoilt> spoilt;
  uint64_t bucket_bytes = 64;
  double clip_norm = 0;  // of the sum; not 0: gradients are summed at the end
  // The ranks may change: RingExchangeOptions::renews.
  bool renews = false;
  // Chance in percent that a call to the replica fails, before or after it has
  // had an effect.
  int failures = 0;

  int ranks() const { return static_cast<int>(lanes[0].size()); }
  ModelSpec Spec() const;
  bool Rejects(const BatchId& batch) const { return spoilt.contains(batch); }
};

// What the examples of a batch are: a function of its id.
Batch MakeRingBatch(const RingJob& job, const BatchId& id);

// The model of the job, which spoils the gradients that the job says.
std::unique_ptr<Model> MakeRingModel(const RingJob* job, Backend* backend);

// The parameter servers of the job.
using RingServers = std::vector<std::shared_ptr<ParameterShard>>;
RingServers MakeRingServers(const RingJob& job, Executor* completions);

// The replica of a rank, a client of `replica` or of a service around it, and
// the options of the exchange between the ranks. `shards` are job.servers
// servers and the replica, or services around them.
std::unique_ptr<ParameterShard> MakeRingReplica(const RingJob& job, int rank,
                                                Executor* completions);
std::unique_ptr<ShardedClient> MakeRingClient(
    const RingJob& job, int rank,
    std::vector<std::shared_ptr<ParameterService>> shards, Executor* strand);
RingExchangeOptions RingOptions(const RingJob& job);
// A request for what the replica of a rank, or a server, has.
StatsRequest RingStats(int rank);
StatsRequest ServerStats(int server);

// One rank of a ring: the exchange over a real replica, and a stand-in for the
// trainer, which pulls, computes and finishes the batches of its lanes one
// after another, with random pauses. Everything runs on the strand.
class RingRank {
 public:
  // `job`, `strand` and `completions`, the executor of the replica, outlive the
  // rank's calls. Nothing runs before the first BeginEpoch.
  RingRank(const RingJob* job, int rank, std::unique_ptr<Collective> collective,
           Executor* strand, Executor* completions, uint64_t seed,
           const RingServers& servers = {});

  void BeginEpoch(uint32_t epoch);
  // Trains these batches as a lane of its own, under this lease.
  void BeginLane(std::vector<BatchId> lane, uint64_t lease = 1);
  // As the coordinator's messages.
  void Hold(uint64_t number);
  void Resume(uint64_t number);
  void Cancel() { exchange_->Cancel(); }
  // Ends the generation, and drops the lane.
  void Retire(GradientExchange::Retired done);
  // The next generation, in which losses of ranks begin another one.
  void Join(std::unique_ptr<Collective> collective, ExchangeStart start);
  // Gets what the exchange tells the coordinator.
  void OnMessage(std::function<void(const ProcessMessage&)> take) {
    take_ = std::move(take);
  }

  // The number of the Hold during which the rank stands still; 0: it does not.
  uint64_t held() const { return held_; }
  ParameterShard& replica() { return *replica_; }
  // Marks of its replica.
  uint64_t marked() const;
  // Its lane of the present epoch has ended: all its own batches are done.
  bool lane_done() const { return lane_done_; }
  // The verdicts on its own batches.
  uint64_t applied() const { return applied_; }
  uint64_t rejected() const { return rejected_; }
  uint64_t aborted() const { return aborted_; }
  // What its exchange has told for the log.
  const std::vector<std::string>& warnings() const { return warnings_; }
  // The error that ended the rank.
  absl::Status failure() const { return failure_; }

 private:
  class FailingService;
  class LateService;

  void MakeExchange(std::unique_ptr<Collective> collective,
                    RingExchangeOptions options);
  void Pause(Task then);
  void Next();
  void EndLane();
  void Pull();
  void Compute();
  void Finish();
  void OnFinished(absl::StatusOr<StepEnd> end);
  void CheckHeld();

  const RingJob& job_;
  const int rank_;
  Executor* const strand_;
  std::mt19937_64 random_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<ParameterShard> replica_;
  std::unique_ptr<ShardedClient> client_;
  std::unique_ptr<RingExchange> exchange_;
  UniqueIds unique_;
  TrainStep step_;

  int generation_ = 0;  // answers to an earlier one are ignored
  std::function<void(const ProcessMessage&)> take_;
  std::vector<BatchId> lane_;
  uint64_t lease_ = 1;
  size_t next_ = 0;  // of lane_
  int lanes_ = 0;    // begun so far
  enum class At { kNothing, kWaits, kStep, kKept } at_ = At::kNothing;
  bool pausing_ = false;   // Next comes by itself
  bool lane_told_ = false;  // to the exchange
  uint64_t hold_ = 0;      // 0: none
  bool stopped_ = false;   // the exchange says so
  std::atomic<uint64_t> held_{0};
  std::atomic<bool> lane_done_{false};
  std::atomic<uint64_t> applied_{0};
  std::atomic<uint64_t> rejected_{0};
  uint64_t aborted_ = 0;
  std::vector<std::string> warnings_;
  absl::Status failure_;
};

// Trains the batches of the job serially: the gradients of a step are added up
// in the order of the ranks and divided once. With servers, so are the dense
// gradients; the rows of each batch are divided and pushed by themselves, all
// after the gradients of the step are computed. This is arithmetic of the
// test's own. `shard` has one shard, or the servers' and the replicated one.
void TrainSerially(const RingJob& job, ShardSet* shard);
// The digest of the model afterwards.
uint64_t SerialDigest(const RingJob& job);

}  // namespace shoal

#endif  // SHOAL_TESTS_WORKER_TRAIN_RING_RANK_H_
