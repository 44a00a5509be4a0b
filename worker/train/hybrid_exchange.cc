#include "worker/train/hybrid_exchange.h"

#include <cstddef>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/gradient_sum.h"
#include "core/model_spec.h"

namespace shoal {
namespace {

// Pushes the rows of the rank's own batches to the servers.
class RowPush {
 public:
  RowPush(const ModelSpec& model, ShardedClient* servers) : servers_(servers) {
    for (size_t t = 0; t < model.tables.size(); ++t) {
      divides_.push_back(DividesRows(model, t));
    }
  }

  void Push(TrainStep* step, const PushedBatch& batch, Done<Verdict> done) {
    // A push that is repeated must be the same.
    if (!batch.rejected && std::exchange(divided_, step) != step) {
      for (size_t t = 0; t < divides_.size(); ++t) {
        if (!divides_[t]) continue;
        DivideByExamples(batch.examples,
                         step->parameters.tables[t].d_rows.span());
      }
    }
    servers_->PushTo(
        servers_->single_shards(), absl::MakeConstSpan(&batch, 1),
        step->parameters,
        [this,
         done = std::move(done)](absl::StatusOr<Verdict> verdict) mutable {
          if (verdict.ok()) divided_ = nullptr;  // the memory is used again
          std::move(done)(std::move(verdict));
        });
  }

 private:
  ShardedClient* const servers_;
  std::vector<bool> divides_;  // by table
  const TrainStep* divided_ = nullptr;  // the step whose rows are divided
};

RingExchangeOptions OfDenseVariables(RingExchangeOptions options,
                                     ShardedClient* shards) {
  auto rows = std::make_shared<RowPush>(options.round.model, shards);
  options.round.model.tables.clear();
  options.push_rows = [rows = std::move(rows)](TrainStep* step,
                                               const PushedBatch& batch,
                                               Done<Verdict> done) {
    rows->Push(step, batch, std::move(done));
  };
  return options;
}

}  // namespace

HybridExchange::HybridExchange(RingExchangeOptions options,
                               ShardedClient* shards,
                               std::unique_ptr<Collective> collective,
                               Executor* strand)
    : RingExchange(OfDenseVariables(std::move(options), shards), shards,
                   std::move(collective), strand) {}

}  // namespace shoal
