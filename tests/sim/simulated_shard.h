#ifndef SHOAL_TESTS_SIM_SIMULATED_SHARD_H_
#define SHOAL_TESTS_SIM_SIMULATED_SHARD_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "core/cluster_service.h"
#include "core/ids.h"
#include "core/mark.h"
#include "core/session_messages.h"
#include "tests/harness/simulated_executor.h"

namespace shoal {

// The way in which a shard recognises a repeated push. The first is Shoal's
// way; the others are planted bugs, which the simulator must find.
enum class ShardKind {
  kByBatch,
  // A push is recognised by its sender's life and a sequence number, as in
  // transports that promise to deliver once.
  kBySenderAndSequence,
  // Applies as kByBatch, but some marks never reach the coordinator.
  kForgetsMarks,
};

struct SimulatedPush {
  Life sender;
  uint64_t sequence = 0;  // grows by one a push of a life to a shard
  BatchId batch;
  uint64_t lease = 0;
  Verdict verdict = Verdict::kApplied;
};

// The simulator's record of what happened to one shard. It shares no code with
// the ledger.
struct ShardBook {
  std::map<BatchId, int> canaries;     // +1 for each push that was applied
  std::map<BatchId, uint64_t> leases;  // of the first
  std::map<BatchId, std::set<uint64_t>> all_leases;  // of every copy that came
  uint64_t repeats_refused = 0;
};

// A PS that keeps only marks, and reports them to the coordinator. Belongs to
// the simulator's thread.
class SimulatedShard {
 public:
  // `cluster` is the coordinator as this process reaches it.
  SimulatedShard(int index, ShardKind kind, SimulatedExecutor* executor,
                 ClusterService* cluster)
      : index_(index), kind_(kind), executor_(executor), cluster_(cluster) {}

  void Start();
  // A push arrives.
  void Push(const SimulatedPush& push);

  SimulatedExecutor* executor() const { return executor_; }
  // As of the shard's report, or as it stands.
  const ShardBook& book() const { return reported_ ? report_book_ : book_; }
  bool heard_end() const { return heard_end_; }

 private:
  void OnMessage(CoordinatorMessage message);
  void Beat();
  void SendMarks();

  const int index_;
  const ShardKind kind_;
  SimulatedExecutor* const executor_;
  ClusterService* const cluster_;
  std::unique_ptr<ClusterSession> session_;
  int beats_ = 0;
  bool reported_ = false;
  bool heard_end_ = false;
  ShardBook book_;
  ShardBook report_book_;
  MarkDelta delta_;
  uint64_t marks_made_ = 0;
  std::set<std::pair<Life, uint64_t>> sequences_;
  std::set<std::pair<BatchId, uint64_t>> repeats_told_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_SIMULATED_SHARD_H_
