#ifndef SHOAL_WORKER_TRAIN_REPLICA_PUSH_H_
#define SHOAL_WORKER_TRAIN_REPLICA_PUSH_H_

#include <cstddef>
#include <memory>

#include "core/done.h"
#include "worker/client/sharded_client.h"
#include "worker/train/step_memory.h"

namespace shoal {

// Pushes steps of `--mode=ring` to the replica of this rank, one at a time.
// Every push needs the version and colour of a pull: those of the pull of the
// rank's own batch, or, for a step without one, those of a pull of nothing.
//
// Owned by the strand of the client. Held by shared_ptr: calls in flight keep
// the memory that they use.
class ReplicaPush : public std::enable_shared_from_this<ReplicaPush> {
 public:
  // The replica is the replicated shard of `shards`, which must outlive the
  // calls. `tables` are those of the variables in it.
  ReplicaPush(ShardedClient* shards, size_t tables)
      : shards_(shards), tables_(tables) {}

  // The step of the next calls of Push. `own` has the pull of the rank's own
  // batch, and is read during the call; null: the rank brings none.
  void Take(std::shared_ptr<StepMemory> step, const StepParameters* own);
  // Pushes the step, for the first time or again: a push of the same batches is
  // applied once. `done` runs on the strand, never inside the call. Errors:
  // those of ShardedClient.
  void Push(Done<Verdict> done);
  // Asks the replica for its version and nothing else. It has answered, so it
  // is made or loaded.
  void Pull(absl::AnyInvocable<void(absl::Status) &&> done);

  const std::shared_ptr<StepMemory>& step() const { return step_; }

 private:
  void TakeVersion(const StepParameters& pulled);
  void Send(Done<Verdict> done);

  ShardedClient* const shards_;
  const size_t tables_;
  std::shared_ptr<StepMemory> step_;
  bool has_version_ = false;  // the step has that of a pull
  StepParameters pulled_;     // of nothing
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_REPLICA_PUSH_H_
