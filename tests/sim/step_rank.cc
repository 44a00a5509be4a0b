#include "tests/sim/step_rank.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "partitioner/split.h"
#include "tests/harness/simulated_calls.h"
#include "tests/ps/step_push.h"
#include "tests/sim/step_run.h"

namespace shoal {
namespace {

constexpr absl::Duration kMaxPause = absl::Milliseconds(20);

}  // namespace

StepRank::StepRank(StepRun* run, uint32_t rank)
    : run_(run),
      rank_(rank),
      process_(&run->simulator_, absl::StrCat("worker ", rank), 1) {
  for (uint32_t i = 1; i <= run->options().batches; ++i) lane_.push_back(i);
  ShardedClientOptions options;
  options.job = "test";
  options.worker = LifeOf(rank);
  options.map = run->map();
  options.row_dims = {3};
  options.dense_size = static_cast<int64_t>(GradientOf(0, 1).dense.size());
  options.pull_timeout = absl::Milliseconds(200);
  options.push_timeout = run->options().push_timeout;
  std::vector<std::shared_ptr<ParameterService>> shards;
  for (int s = 0; s < run->options().shards; ++s) {
    options.shard_lives.push_back({1, static_cast<uint32_t>(s + 1)});
    shards.push_back(std::make_shared<SimulatedCalls>(
        &run->network_, strand(), process_, absl::StrCat("ps ", s), ""));
  }
  client_ = std::make_unique<ShardedClient>(std::move(options),
                                            std::move(shards), strand());
  exchange_ = std::make_unique<SyncExchange>(client_.get());
}

void StepRank::Begin() {
  if (in_flight_ || kept_ || holds_ || ended_) return;
  if (lane_.empty()) {
    ended_ = true;
    run_->Send(absl::StrCat("from ", rank_), run_->coordinator_.Strand("main"),
               [this] { run_->OnLaneEnd(rank_); });
    return;
  }
  in_flight_ = true;
  const uint32_t index = lane_.front();
  lane_.pop_front();
  step_.batch.id = {0, rank_, index};
  step_.batch.examples.labels.resize(StepBatchOf(rank_, index).examples);
  step_.lease = 1;
  std::vector<FeatureId> ids;
  for (const auto& [id, row] : GradientOf(rank_, index).rows) ids.push_back(id);
  step_.parameters.tables.resize(1);
  SplitIds(run_->map().tables[0], ids, &step_.parameters.tables[0].split);
  Pull();
}

absl::Duration StepRank::Pause() {
  return run_->draw_.Span(kMaxPause, "pause", ++run_->sent_);
}

void StepRank::Pull() {
  client_->Pull(&step_.parameters, /*read_only=*/false,
                [this](absl::Status status) { OnPulled(status); });
}

void StepRank::OnPulled(const absl::Status& status) {
  if (!status.ok()) {
    strand()->PostAfter(Pause(), [this] { Pull(); });
    return;
  }
  // Rank 0 is the slowest, so that there are late pushes.
  const absl::Duration most = absl::Milliseconds(rank_ == 0 ? 40 : 10);
  strand()->PostAfter(run_->draw_.Span(most, "compute", ++run_->sent_),
                      [this] { Compute(); });
}

void StepRank::Compute() {
  const uint32_t index = step_.batch.id.index;
  const BatchGradient gradient = GradientOf(rank_, index);
  StepParameters& parameters = step_.parameters;
  TableParameters& table = parameters.tables[0];
  table.d_rows.ResizeDiscard(table.split.ids.size() * 3);
  for (size_t i = 0; i < table.split.ids.size(); ++i) {
    const std::vector<float>& row = gradient.rows.at(table.split.ids[i]);
    std::copy(row.begin(), row.end(), table.d_rows.data() + i * 3);
  }
  parameters.d_dense.ResizeDiscard(gradient.dense.size());
  std::copy(gradient.dense.begin(), gradient.dense.end(),
            parameters.d_dense.data());
  parameters.rejected = run_->draw_.Chance(0.05, "rejected", rank_, index);
  exchange_->Begin(&step_);
  Finish();
}

void StepRank::Finish() {
  exchange_->Finish(&step_, [this](absl::StatusOr<StepEnd> end) {
    OnEnd(std::move(end));
  });
}

void StepRank::OnEnd(absl::StatusOr<StepEnd> end) {
  if (end.ok()) {
    if (*end == StepEnd::kDropped) {
      ++run_->dropped_;
      lane_.push_back(step_.batch.id.index);
    }
    EndBatch();
    return;
  }
  if (absl::IsAborted(end.status())) {
    in_flight_ = false;
    kept_ = true;
    if (holds_) {
      EndBatch();
      return;
    }
    strand()->PostAfter(Pause(), [this] {
      if (!holds_) Resume();
    });
    return;
  }
  if (!absl::IsUnavailable(end.status()) &&
      !absl::IsDeadlineExceeded(end.status())) {
    run_->Fail(absl::StrCat("rank ", rank_, ": ", end.status().ToString()));
    return;
  }
  strand()->PostAfter(Pause(), [this] { Finish(); });
}

void StepRank::EndBatch() {
  in_flight_ = false;
  if (holds_) {
    run_->Send(absl::StrCat("from ", rank_), run_->coordinator_.Strand("main"),
               [this] { run_->OnHeld(rank_); });
    return;
  }
  Begin();
}

void StepRank::Hold() {
  holds_ = true;
  if (!in_flight_) EndBatch();
}

void StepRank::Resume() {
  holds_ = false;
  if (std::exchange(kept_, false)) {
    in_flight_ = true;
    Finish();
    return;
  }
  Begin();
}

}  // namespace shoal
