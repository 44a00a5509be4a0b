#ifndef SHOAL_WORKER_TRAIN_PUSH_EXCHANGE_H_
#define SHOAL_WORKER_TRAIN_PUSH_EXCHANGE_H_

#include "worker/client/sharded_client.h"
#include "worker/train/gradient_exchange.h"

namespace shoal {

// The exchange of asynchronous training: pushes each gradient to all shards
// when it is computed. A batch's shards may disagree after an error; the next
// Finish pushes it to all of them again, under the same identity. Leaves the
// gradient as it is.
class PushExchange final : public GradientExchange {
 public:
  // `client` outlives the exchange. The calls in flight at Cancel end with the
  // shards' clients, which the owner of the life closes.
  explicit PushExchange(ShardedClient* client) : client_(client) {}

  void Begin(TrainStep*) override {}
  void Finish(TrainStep* step, Done<Verdict> done) override;
  void EndLease(const Lease&) override {}
  void Cancel() override {}

 private:
  ShardedClient* const client_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_PUSH_EXCHANGE_H_
