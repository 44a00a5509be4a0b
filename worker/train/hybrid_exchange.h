#ifndef SHOAL_WORKER_TRAIN_HYBRID_EXCHANGE_H_
#define SHOAL_WORKER_TRAIN_HYBRID_EXCHANGE_H_

#include <memory>

#include "base/executor.h"
#include "core/collective.h"
#include "worker/client/sharded_client.h"
#include "worker/train/ring_exchange.h"

namespace shoal {

// The exchange of `--mode=hybrid`: the ranks make one dense gradient of their
// batches, which each pushes to its own replica, the replicated shard, as in
// `--mode=ring`; the rows of each batch go to the other shards as in
// `--mode=async`. So a step is
//
//   1. sums of the dense gradients beside the backward pass, and one AllGather,
//      by which all ranks know the batches of the step (RingRound)
//   2. each rank pushes its batch to the parameter servers: the gradients of
//      its rows, or nothing but the batch where there are none. A server
//      applies this push by itself, when it arrives
//   3. one AllGather that tells all ranks that all of these pushes are applied
//   4. each rank pushes the step to its replica: the dense gradient, and all
//      batches of the step
//
// Therefore a replica has a batch only if every server has it, and a step that
// ends before 4 leaves nothing but rows whose push may be repeated. When a rank
// pulls for step s + 1, the servers have the rows of all batches of the steps
// up to s, and no rows of step s + 1; at a Hold the servers and the replicas
// have the same batches.
//
// What a gradient is divided by: the dense one by the examples of the step, as
// in ring; the rows of a batch by the examples of that batch, as in async,
// since a server applies each batch as an update of its own. Adam's t, warm-up
// and L2 count a step on the replicated shard and a batch on the servers
// (docs/decisions/0033-hybrid.md).
//
// The errors of pushes to servers are those of Finish; after one that may pass
// the next Finish pushes the same rows again.
//
// REQUIRES: pipeline depth 0, for step 4 before the next pull; the gradient is
// a sum; the map of `shards` has a replicated shard with the dense variables,
// and others with the rows.
class HybridExchange final : public RingExchange {
 public:
  // `options` are those of a ring; options.round.model is the whole model, and
  // push_rows is set here. The other arguments as for RingExchange.
  HybridExchange(RingExchangeOptions options, ShardedClient* shards,
                 std::unique_ptr<Collective> collective, Executor* strand);
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_HYBRID_EXCHANGE_H_
