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

StepRank::StepRank(StepRun* run, uint32_t rank, int start, Life life)
    : run_(run),
      rank_(rank),
      life_(life),
      process_(&run->simulator_, absl::StrCat("worker ", rank), start) {}

void StepRank::Join(StepLane lane) {
  eras_.push_back(std::make_unique<Era>());
  Era* const era = eras_.back().get();
  era->lane = std::move(lane);
  ShardedClientOptions options;
  options.job = "test";
  options.worker = life_;
  options.map = run_->map();
  options.row_dims = {3};
  options.dense_size = static_cast<int64_t>(GradientOf(0, 1).dense.size());
  options.pull_timeout = absl::Milliseconds(200);
  options.push_timeout = run_->options().push_timeout;
  std::vector<std::shared_ptr<ParameterService>> shards;
  for (int s = 0; s < run_->options().shards; ++s) {
    options.shard_lives.push_back({1, static_cast<uint32_t>(s + 1)});
    shards.push_back(std::make_shared<SimulatedCalls>(
        &run_->network_, strand(), process_, absl::StrCat("ps ", s), ""));
  }
  era->client = std::make_unique<ShardedClient>(std::move(options),
                                                std::move(shards), strand());
  era->exchange = std::make_unique<SyncExchange>(era->client.get());
  Begin(era);
}

void StepRank::Retire(uint64_t generation) {
  asked_ = generation;
  if (eras_.empty() || eras_.back()->retired) return TellReady();
  Era* const era = eras_.back().get();
  if (std::exchange(era->over, true)) return;
  era->exchange->Retire([this, era](auto) {
    era->retired = true;
    TellReady();
  });
}

void StepRank::TellReady() {
  Tell([this, number = asked_] { run_->OnRankReady(life_, number); });
}

void StepRank::Tell(absl::AnyInvocable<void() &&> message) {
  run_->Send(absl::StrCat("from ", process_.id()),
             run_->coordinator_.Strand("main"), std::move(message));
}

void StepRank::Begin(Era* era) {
  if (era->over || era->in_flight || era->kept || era->hold != 0 ||
      era->ended) {
    return;
  }
  if (era->lane.batches.empty()) {
    era->ended = true;
    Tell([this, generation = era->lane.generation] {
      run_->OnLaneEnd(life_, generation);
    });
    return;
  }
  era->in_flight = true;
  const BatchId batch = era->lane.batches.front();
  era->lane.batches.pop_front();
  TrainStep& step = era->step;
  step.batch.id = batch;
  step.batch.examples.labels.resize(
      StepBatchOf(batch.piece, batch.index).examples);
  step.lease = era->lane.lease;
  std::vector<FeatureId> ids;
  for (const auto& [id, row] : GradientOf(batch.piece, batch.index).rows) {
    ids.push_back(id);
  }
  step.parameters.tables.resize(1);
  SplitIds(run_->map().tables[0], ids, &step.parameters.tables[0].split);
  Pull(era);
}

absl::Duration StepRank::Pause() {
  return run_->draw_.Span(kMaxPause, "pause", ++run_->sent_);
}

void StepRank::After(absl::Duration pause, Era* era,
                     void (StepRank::*task)(Era*)) {
  strand()->PostAfter(pause, [this, era, task] {
    if (!era->over) (this->*task)(era);
  });
}

void StepRank::Pull(Era* era) {
  era->client->Pull(
      &era->step.parameters, /*read_only=*/false,
      [this, era](absl::Status status) { OnPulled(era, status); });
}

void StepRank::OnPulled(Era* era, const absl::Status& status) {
  if (era->over) return;
  if (!status.ok()) {
    After(Pause(), era, &StepRank::Pull);
    return;
  }
  // Rank 0 is the slowest, so that there are late pushes.
  const absl::Duration most = absl::Milliseconds(rank_ == 0 ? 40 : 10);
  After(run_->draw_.Span(most, "compute", ++run_->sent_), era,
        &StepRank::Compute);
}

void StepRank::Compute(Era* era) {
  const BatchId batch = era->step.batch.id;
  const BatchGradient gradient = GradientOf(batch.piece, batch.index);
  StepParameters& parameters = era->step.parameters;
  TableParameters& table = parameters.tables[0];
  table.d_rows.ResizeDiscard(table.split.ids.size() * 3);
  for (size_t i = 0; i < table.split.ids.size(); ++i) {
    const std::vector<float>& row = gradient.rows.at(table.split.ids[i]);
    std::copy(row.begin(), row.end(), table.d_rows.data() + i * 3);
  }
  parameters.d_dense.ResizeDiscard(gradient.dense.size());
  std::copy(gradient.dense.begin(), gradient.dense.end(),
            parameters.d_dense.data());
  parameters.rejected =
      run_->draw_.Chance(0.05, "rejected", batch.piece, batch.index);
  era->exchange->Begin(&era->step);
  Finish(era);
}

void StepRank::Finish(Era* era) {
  era->exchange->Finish(&era->step,
                        [this, era](absl::StatusOr<StepEnd> end) {
                          OnEnd(era, std::move(end));
                        });
}

void StepRank::OnEnd(Era* era, absl::StatusOr<StepEnd> end) {
  if (era->over) return;
  if (end.ok()) {
    if (*end == StepEnd::kDropped) {
      ++run_->dropped_;
      era->lane.batches.push_back(era->step.batch.id);
    }
    EndBatch(era);
    return;
  }
  if (absl::IsAborted(end.status())) {
    era->in_flight = false;
    era->kept = true;
    if (era->hold != 0) {
      EndBatch(era);
      return;
    }
    After(Pause(), era, &StepRank::FinishKept);
    return;
  }
  if (absl::IsFailedPrecondition(end.status()) && run_->IsLost(life_)) {
    // A process that was frozen and thawed is no worker any more.
    era->over = true;
    run_->OnRefused();
    return;
  }
  if (!absl::IsUnavailable(end.status()) &&
      !absl::IsDeadlineExceeded(end.status())) {
    run_->Fail(absl::StrCat("rank ", rank_, ": ", end.status().ToString()));
    return;
  }
  After(Pause(), era, &StepRank::Finish);
}

void StepRank::EndBatch(Era* era) {
  era->in_flight = false;
  if (era->hold != 0) {
    Tell([this, number = era->hold] { run_->OnHeld(life_, number); });
    return;
  }
  Begin(era);
}

void StepRank::Hold(uint64_t number) {
  Era* const era = eras_.back().get();
  if (era->over) return;
  era->hold = number;
  if (!era->in_flight) EndBatch(era);
}

void StepRank::Resume() {
  Era* const era = eras_.back().get();
  if (era->over) return;
  era->hold = 0;
  FinishKept(era);
  Begin(era);
}

void StepRank::FinishKept(Era* era) {
  if (era->hold != 0 || !std::exchange(era->kept, false)) return;
  era->in_flight = true;
  Finish(era);
}

}  // namespace shoal
