#include "worker/train/push_exchange.h"

#include <utility>

namespace shoal {

void PushExchange::Finish(TrainStep* step, Done<Verdict> done) {
  client_->Push(step->batch.id, step->lease, step->parameters, std::move(done));
}

}  // namespace shoal
