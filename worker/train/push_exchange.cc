#include "worker/train/push_exchange.h"

#include <cstdint>
#include <utility>

#include "absl/types/span.h"
#include "core/pushed_batch.h"

namespace shoal {

void PushExchange::Finish(TrainStep* step, Done<Verdict> done) {
  const PushedBatch batch = {
      .id = step->batch.id,
      .lease = step->lease,
      .examples = static_cast<uint32_t>(step->batch.examples.size()),
      .rejected = step->parameters.rejected};
  client_->Push(absl::MakeConstSpan(&batch, 1), step->parameters,
                std::move(done));
}

}  // namespace shoal
