#ifndef SHOAL_WORKER_TRAIN_SYNC_EXCHANGE_H_
#define SHOAL_WORKER_TRAIN_SYNC_EXCHANGE_H_

#include <memory>

#include "worker/client/sharded_client.h"
#include "worker/train/gradient_exchange.h"

namespace shoal {

// The exchange of --mode=sync: pushes each gradient to all shards for the next
// step of the job, which is the least number of applied steps among the pull
// replies, plus 1. The shards park the push until the step is closed, add the
// gradients of all ranks and divide once (ps/shard/step_shard.h). So the
// gradient is that of the SUM over the batch's examples, and the pipeline has
// depth 0: the pull of a step must not begin before the step before it is
// applied. Does not change the gradient.
//
// The answers of the shards make one result:
//   all have applied or rejected it   kApplied or kRejected
//   any other error than ABORTED      the error of the first shard with one
//   some have dropped it              kDropped: the batch is leased again, and
//                                     shards that have it refuse the repeat
//   all say ABORTED                   ABORTED: the job holds before this step
//   some say ABORTED                  UNAVAILABLE: a shard has the push, and
//                                     the others get it again
//
// At the end of a hold one shard may park the push while another still says
// ABORTED. The step cannot be closed without the second one, so the exchange
// sends the push to it again while the others have not answered. No push is
// sent again after Retire: the servers answer those that they have.
//
// Some shards have dropped a batch and others have it if its worker was lost
// between its pushes, and the batch comes too late for its step when it is
// trained again.
class SyncExchange final : public GradientExchange {
 public:
  // `client` must outlive the exchange. Calls that are in flight at Cancel end
  // when the owner of the worker's life closes the clients of the shards.
  explicit SyncExchange(ShardedClient* client) : client_(client) {}

  void Begin(TrainStep*) override {}
  void Finish(TrainStep* step, Done<StepEnd> done) override;
  void EndLease(const Lease&) override {}
  void Retire(Retired done) override;
  void Cancel() override;
  StepState waits_in() const override { return StepState::kWaitStep; }

 private:
  struct Push;

  void Send(std::shared_ptr<Push> push, int shard);
  void OnAnswer(std::shared_ptr<Push> push, int shard,
                absl::StatusOr<PushReply> answer);

  void EndRetire();

  ShardedClient* const client_;
  bool over_ = false;   // nothing is sent any more
  int in_flight_ = 0;   // pushes that a shard has not answered
  Retired retired_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_SYNC_EXCHANGE_H_
