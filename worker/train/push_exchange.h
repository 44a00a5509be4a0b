#ifndef SHOAL_WORKER_TRAIN_PUSH_EXCHANGE_H_
#define SHOAL_WORKER_TRAIN_PUSH_EXCHANGE_H_

#include "worker/client/sharded_client.h"
#include "worker/train/gradient_exchange.h"

namespace shoal {

// The exchange of asynchronous training: pushes each gradient to all shards
// when it is computed. After an error some shards may have applied the batch
// and others not; the next Finish pushes it to all of them again, with the same
// batch id. Does not change the gradient.
class PushExchange final : public GradientExchange {
 public:
  // `client` must outlive the exchange. The calls in flight at Cancel end with
  // the shards' clients, which the owner of the life closes.
  explicit PushExchange(ShardedClient* client) : client_(client) {}

  void Begin(TrainStep*) override {}
  void Finish(TrainStep* step, Done<StepEnd> done) override;
  void EndLease(const Lease&) override {}
  // Nothing is in flight that a generation could end: asynchronous workers have
  // no generations.
  void Retire(Retired done) override;
  void Cancel() override {}

 private:
  ShardedClient* const client_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_PUSH_EXCHANGE_H_
