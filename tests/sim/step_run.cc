#include "tests/sim/step_run.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "partitioner/build_shard_map.h"
#include "partitioner/table_partition.h"
#include "tests/ps/step_push.h"
#include "tests/sim/step_rank.h"

namespace shoal {
namespace {

constexpr OptimizerKind kOptimizer = OptimizerKind::kAdagrad;

}  // namespace

StepRun::StepRun(uint64_t seed, const StepRunOptions& options)
    : options_(options),
      draw_(seed),
      simulator_(seed),
      network_(&simulator_, seed, options.faults) {
  MakeShards();
  StepCloserOptions closer;
  closer.backup_workers = options.backup_workers;
  for (uint32_t rank = 0; rank < options.ranks; ++rank) {
    closer.ranks.push_back(StepRank::LifeOf(rank));
    open_lanes_.push_back(static_cast<int>(rank));
    ranks_.push_back(std::make_unique<StepRank>(this, rank));
  }
  closer_ = std::make_unique<StepCloser>(std::move(closer));
}

StepRun::~StepRun() {
  for (const auto& rank : ranks_) rank->Kill();
  for (const Server& server : servers_) server.process->Kill();
  coordinator_.Kill();
}

void StepRun::MakeShards() {
  const ModelSpec model = StepModel(kOptimizer);
  PartitionOptions partition;
  partition.cut_dense_bytes = 64;
  map_ = *BuildShardMap(model, partition, options_.shards);
  servers_.resize(options_.shards);
  for (int s = 0; s < options_.shards; ++s) {
    Server& server = servers_[s];
    server.process = std::make_unique<SimulatedProcess>(
        &simulator_, absl::StrCat("ps ", s), 1);
    SimulatedExecutor* const completions =
        server.process->Strand("completions");
    ParameterShardOptions shard;
    shard.job = "test";
    shard.model = model;
    shard.map = map_;
    shard.shard = s;
    shard.life = {1, static_cast<uint32_t>(s + 1)};
    server.shard = *ParameterShard::Create(shard, completions);
    server.shard->ServeUntil(absl::InfiniteFuture());
    server.steps = std::make_shared<StepShard>(
        StepGatherOptions{.reports = s == 0}, model, server.shard, completions,
        [this] {
          Send("reports", coordinator_.Strand("main"),
               [this] { OnReports(servers_[0].steps->TakeReports()); });
        });
    network_.Listen(absl::StrCat("ps ", s), server.process.get())->parameters =
        server.steps;
  }
}

void StepRun::Send(const std::string& channel, SimulatedExecutor* to,
                   Task task) {
  absl::Time& newest = channels_[channel];
  newest = std::max(newest, simulator_.Now() + draw_.Span(absl::Milliseconds(5),
                                                          "send", ++sent_));
  to->PostAt(newest, std::move(task));
}

std::string StepRun::Run() {
  for (const auto& rank : ranks_) {
    rank->strand()->Post([&rank] { rank->Begin(); });
  }
  AskForHold();
  const bool over = simulator_.RunUntil(
      [this] { return !failure_.empty() || open_lanes_.empty(); },
      simulator_.Now() + absl::Minutes(10));
  if (!over) {
    Fail(absl::StrCat("hangs in step ", closer_->open_step(), ": ",
                      closer_->WaitingFor({open_lanes_})));
  }
  if (failure_.empty()) CheckEnd();
  return failure_;
}

// ---- The coordinator --------------------------------------------------------

void StepRun::OnReports(std::vector<StepReport> reports) {
  for (const StepReport& report : reports) {
    if (const auto* out = std::get_if<StepTakenOut>(&report)) {
      ++taken_out_;
      closer_->OnTakenOut(out->worker, out->step);
      continue;
    }
    const auto& parked = std::get<StepParked>(report);
    const absl::Status taken = closer_->OnParked(
        parked.worker, parked.step,
        {.batch = parked.batch.id,
         .lease = parked.batch.lease,
         .examples = parked.batch.examples,
         .rejected = parked.batch.rejected});
    if (!taken.ok()) Fail(taken.ToString());
  }
  Step();
}

void StepRun::OnLaneEnd(uint32_t rank) {
  std::erase(open_lanes_, static_cast<int>(rank));
  Step();
}

void StepRun::Step() {
  for (const CloserAction& action : closer_->Step({open_lanes_})) {
    if (const auto* close = std::get_if<CloseStep>(&action)) {
      Close(*close);
    } else if (std::holds_alternative<StepHeld>(action)) {
      ++holds_;
      for (uint32_t rank = 0; rank < options_.ranks; ++rank) {
        StepRank* const to = ranks_[rank].get();
        Send(absl::StrCat("to ", rank), to->strand(), [to] { to->Hold(); });
      }
    }
  }
}

void StepRun::Close(const CloseStep& close) {
  StepClosed closed{.step = close.step, .hold = close.hold};
  for (const StepBatch& batch : close.batches) {
    closed.batches.push_back(
        {.id = batch.batch,
         .lease = batch.lease,
         .examples = static_cast<uint32_t>(batch.examples),
         .rejected = batch.rejected});
  }
  closed_.push_back(closed.batches);
  for (size_t s = 0; s < servers_.size(); ++s) {
    Send(absl::StrCat("to ps ", s), servers_[s].process->Strand("control"),
         [this, s, closed] {
           const absl::Status taken = servers_[s].steps->Close(closed);
           if (!taken.ok()) Fail(taken.ToString());
         });
  }
}

void StepRun::AskForHold() {
  if (options_.hold_every == absl::ZeroDuration()) return;
  coordinator_.Strand("main")->PostAfter(
      draw_.Span(2 * options_.hold_every, "hold", holds_), [this] {
        if (open_lanes_.empty()) return;
        holding_ = true;
        closer_->Hold();
        Step();
      });
}

void StepRun::OnHeld(uint32_t) {
  if (++held_ < options_.ranks) return;
  held_ = 0;
  CheckHeld();
  closer_->Release();
  holding_ = false;
  for (size_t s = 0; s < servers_.size(); ++s) {
    Send(absl::StrCat("to ps ", s), servers_[s].process->Strand("control"),
         [this, s] { servers_[s].steps->Release(); });
  }
  for (uint32_t rank = 0; rank < options_.ranks; ++rank) {
    StepRank* const to = ranks_[rank].get();
    Send(absl::StrCat("to ", rank), to->strand(), [to] { to->Resume(); });
  }
  Step();
  AskForHold();
}

void StepRun::CheckHeld() {
  uint64_t batches = 0;
  for (const PushedBatches& step : closed_) batches += step.size();
  for (const Server& server : servers_) {
    const MarkTotals marks = server.shard->TotalMarks();
    if (marks.applied + marks.rejected != batches) {
      Fail(absl::StrCat("held after ", closed_.size(), " steps of ", batches,
                        " batches, but a shard has ",
                        marks.applied + marks.rejected));
    }
  }
}

void StepRun::CheckEnd() {
  CheckHeld();
  uint64_t batches = 0;
  ShardSet serial(StepModel(kOptimizer), PartitionKind::kFixedSize, 1);
  for (const PushedBatches& step : closed_) {
    batches += step.size();
    if (AllRejected(step)) continue;
    if (!serial.Push(0, SerialSum(step)).ok()) Fail("the oracle fails");
  }
  if (batches != uint64_t{options_.ranks} * options_.batches) {
    Fail(absl::StrCat("trained ", batches, " batches"));
  }
  std::vector<FeatureId> ids(kStepFeatures);
  for (FeatureId id = 0; id < kStepFeatures; ++id) ids[id] = id;
  serial.Touch(ids);  // the pulls of rejected batches have made rows too
  uint64_t digest = 0;
  for (int s = 0; s < options_.shards; ++s) digest += TouchAndDigest(s);
  if (digest != serial.Digest()) Fail("the weights are not the serial sum's");
}

uint64_t StepRun::TouchAndDigest(int shard) {
  const CallIdentity identity = {"test", StepRank::LifeOf(0),
                                 {1, static_cast<uint32_t>(shard + 1)},
                                 map_.version};
  std::vector<FeatureId> ids;
  for (FeatureId id = 0; id < kStepFeatures; ++id) {
    if (ShardOf(map_.tables[0], id) == shard) ids.push_back(id);
  }
  std::vector<float> values(ids.size() * 3);
  PullRequest pull;
  pull.identity = identity;
  pull.tables = {{0, ids, absl::MakeSpan(values)}};
  ParameterService& service = *servers_[shard].steps;
  service.Pull(pull, absl::Seconds(1), [this](absl::StatusOr<PullReply> reply) {
    if (!reply.ok()) Fail(reply.status().ToString());
  });
  simulator_.RunFor(absl::Milliseconds(1));
  uint64_t digest = 0;
  service.Stats({identity}, absl::Seconds(1),
                [&digest](absl::StatusOr<StatsReply> stats) {
                  if (stats.ok()) digest = stats->digest;
                });
  simulator_.RunFor(absl::Milliseconds(1));
  return digest;
}

}  // namespace shoal
