#include "worker/train/push_exchange.h"

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/mark.h"
#include "core/pushed_batch.h"

namespace shoal {

void PushExchange::Finish(TrainStep* step, Done<StepEnd> done) {
  const PushedBatch batch = {
      .id = step->batch.id,
      .lease = step->lease,
      .examples = static_cast<uint32_t>(step->batch.examples.size()),
      .rejected = step->parameters.rejected};
  client_->Push(absl::MakeConstSpan(&batch, 1), step->parameters,
                [done = std::move(done)](
                    absl::StatusOr<Verdict> verdict) mutable {
                  if (!verdict.ok()) {
                    std::move(done)(verdict.status());
                    return;
                  }
                  std::move(done)(*verdict == Verdict::kApplied
                                      ? StepEnd::kApplied
                                      : StepEnd::kRejected);
                });
}

void PushExchange::Retire(Retired done) {
  client_->executor()->Post(
      [done = std::move(done)]() mutable { std::move(done)(nullptr); });
}

}  // namespace shoal
