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

LedgerOptions LedgerOf(const StepRunOptions& options) {
  LedgerOptions ledger;
  ledger.num_members = options.shards;
  ledger.num_pieces = options.ranks;
  return ledger;
}

}  // namespace

StepRun::StepRun(uint64_t seed, const StepRunOptions& options)
    : options_(options),
      draw_(seed),
      simulator_(seed),
      network_(&simulator_, seed, options.faults),
      workers_(options.ranks),
      ledger_(LedgerOf(options)) {
  MakeShards();
  StepCloserOptions closer;
  closer.backup_workers = options.backup_workers;
  for (uint32_t rank = 0; rank < options.ranks; ++rank) {
    StartRank(rank);
    workers_[rank].in_job = true;
    lanes_.push_back(workers_[rank].rank->life());
    open_lanes_.push_back(static_cast<int>(rank));
  }
  closer.ranks = lanes_;
  closer_ = std::make_unique<StepCloser>(std::move(closer));
}

StepRun::~StepRun() {
  for (const auto& rank : ranks_) rank->Kill();
  for (const Server& server : servers_) server.process->Kill();
  coordinator_.Kill();
}

void StepRun::StartRank(uint32_t rank) {
  const Life life = {1, 100 + lives_++};
  ranks_.push_back(std::make_unique<StepRank>(
      this, rank, static_cast<int>(lives_), life));
  workers_[rank].rank = ranks_.back().get();
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
        [this, s] {
          servers_[s].process->Strand("control")->Post([this, s] {
            Server& from = servers_[s];
            Send(absl::StrCat("from ps ", s), coordinator_.Strand("main"),
                 [this, s, reports = from.steps->TakeReports(),
                  marks = from.shard->TakeMarks()] {
                   OnMarks(s, marks);
                   OnReports(s, reports);
                 });
          });
        });
    SimulatedServer* const at =
        network_.Listen(absl::StrCat("ps ", s), server.process.get());
    at->parameters = server.steps;
    at->on_push = [this, s](const std::string&, const PushRequest& push,
                            const absl::StatusOr<PushReply>& reply) {
      if (!reply.ok() || reply->dropped || reply->repeat) return;
      const PushedBatch& batch = push.batches[0];
      if (!servers_[s].applied[push.step].emplace(batch.id, batch.lease)
               .second) {
        Fail("a batch is applied twice in a step");
      }
    };
    TakeMarksOften(s);
  }
}

void StepRun::TakeMarksOften(size_t server) {
  servers_[server].process->Strand("control")->PostAfter(
      absl::Milliseconds(7), [this, server] {
        Send(absl::StrCat("from ps ", server), coordinator_.Strand("main"),
             [this, server, marks = servers_[server].shard->TakeMarks()] {
               OnMarks(server, marks);
             });
        TakeMarksOften(server);
      });
}

void StepRun::Send(const std::string& channel, SimulatedExecutor* to,
                   Task task) {
  absl::Time& newest = channels_[channel];
  newest = std::max(newest, simulator_.Now() + draw_.Span(absl::Milliseconds(5),
                                                          "send", ++sent_));
  to->PostAt(newest, std::move(task));
}

void StepRun::SendToServer(size_t server,
                           absl::AnyInvocable<void(Server&) &&> task) {
  Send(absl::StrCat("to ps ", server),
       servers_[server].process->Strand("control"),
       [this, server, task = std::move(task)]() mutable {
         std::move(task)(servers_[server]);
       });
}

void StepRun::SendToRank(StepRank* rank,
                         absl::AnyInvocable<void(StepRank&) &&> task) {
  Send(absl::StrCat("to ", rank->process()->id()), rank->strand(),
       [rank, task = std::move(task)]() mutable { std::move(task)(*rank); });
}

std::string StepRun::Run() {
  for (uint32_t rank = 0; rank < options_.ranks; ++rank) {
    StepLane lane{.lease = ++leases_};
    for (uint32_t i = 1; i <= options_.batches; ++i) {
      lane.batches.push_back({0, rank, i});
    }
    StepRank* const to = workers_[rank].rank;
    to->strand()->Post([to, lane] { to->Join(lane); });
  }
  AskForHold();
  LoseLater();
  const bool over = simulator_.RunUntil(
      [this] { return !failure_.empty() || Over(); },
      simulator_.Now() + absl::Minutes(10));
  if (!over) {
    Fail(absl::StrCat("hangs in generation ", generation_,
                      between_ ? ", which has not begun" : "", ", step ",
                      closer_->open_step(), ": ",
                      closer_->WaitingFor({open_lanes_})));
  }
  if (failure_.empty()) CheckEnd();
  return failure_;
}

bool StepRun::Over() const {
  return !between_ && open_lanes_.empty() &&
         ledger_.totals().batches ==
             uint64_t{options_.ranks} * options_.batches;
}

// ---- The coordinator --------------------------------------------------------

int StepRun::RankOf(Life life) const {
  for (size_t rank = 0; rank < workers_.size(); ++rank) {
    if (workers_[rank].in_job && workers_[rank].rank->life() == life) {
      return static_cast<int>(rank);
    }
  }
  return -1;
}

void StepRun::OnMarks(size_t server, const MarkDelta& delta) {
  for (const Mark& mark : delta.marks) {
    const auto added = ledger_.Add(static_cast<int>(server), mark);
    if (!added.ok()) Fail(added.status().ToString());
  }
}

void StepRun::OnReports(size_t server, std::vector<StepReport> reports) {
  for (const StepReport& report : reports) {
    if (const auto* ready = std::get_if<GenerationReady>(&report)) {
      servers_[server].ready = ready->number;
      servers_[server].steps_ready = ready->steps;
      BeginGeneration();
      continue;
    }
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

void StepRun::OnLaneEnd(Life life, uint64_t generation) {
  if (between_ || generation != generation_ || RankOf(life) < 0) return;
  const auto at = std::find(lanes_.begin(), lanes_.end(), life);
  std::erase(open_lanes_, static_cast<int>(at - lanes_.begin()));
  Step();
}

void StepRun::Step() {
  for (const CloserAction& action : closer_->Step({open_lanes_})) {
    if (const auto* close = std::get_if<CloseStep>(&action)) {
      Close(*close);
    } else if (std::holds_alternative<StepHeld>(action)) {
      ++holds_;
      for (const Worker& worker : workers_) {
        if (!worker.in_job) continue;
        SendToRank(worker.rank, [number = holding_](StepRank& rank) {
          rank.Hold(number);
        });
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
  if (closed.step != closed_.size() + 1) Fail("steps are not in order");
  closed_.push_back(closed.batches);
  for (size_t s = 0; s < servers_.size(); ++s) {
    SendToServer(s, [this, closed](Server& server) {
      const absl::Status taken = server.steps->Close(closed);
      if (!taken.ok()) Fail(taken.ToString());
    });
  }
}

void StepRun::AskForHold() {
  if (options_.hold_every == absl::ZeroDuration()) return;
  coordinator_.Strand("main")->PostAfter(
      draw_.Span(2 * options_.hold_every, "hold", asked_), [this] {
        if (Over()) return;
        ++asked_;
        if (between_ || open_lanes_.empty()) return AskForHold();
        holding_ = asked_;
        closer_->Hold();
        Step();
      });
}

void StepRun::OnHeld(Life life, uint64_t number) {
  if (number != holding_ || holding_ == 0) return;
  held_.insert(life);
  for (const Worker& worker : workers_) {
    if (worker.in_job && !held_.contains(worker.rank->life())) return;
  }
  CheckHeld();
  Release();
}

void StepRun::Release() {
  if (std::exchange(holding_, 0) == 0) return;
  held_.clear();
  closer_->Release();
  for (size_t s = 0; s < servers_.size(); ++s) {
    SendToServer(s, [](Server& server) { server.steps->Release(); });
  }
  for (const Worker& worker : workers_) {
    if (!worker.in_job) continue;
    SendToRank(worker.rank, [](StepRank& rank) { rank.Resume(); });
  }
  Step();
  AskForHold();
}

void StepRun::CheckHeld() {
  for (const Server& server : servers_) {
    std::set<BatchId> has;
    for (const auto& [step, batches] : server.applied) {
      for (const auto& [batch, lease] : batches) has.insert(batch);
    }
    for (uint64_t step = first_step_; step <= closed_.size(); ++step) {
      for (const PushedBatch& batch : closed_[step - 1]) {
        if (has.contains(batch.id)) continue;
        Fail(absl::StrCat("held after ", closed_.size(),
                          " steps, but a shard lacks batch ",
                          ToString(batch.id)));
      }
    }
  }
}

// ---- Generations ------------------------------------------------------------

void StepRun::LoseLater() {
  if (losses_ == options_.losses) return;
  coordinator_.Strand("main")->PostAfter(
      draw_.Span(absl::Milliseconds(400), "loss", losses_), [this] {
        if (Over()) return;
        const auto rank = static_cast<uint32_t>(
            draw_.Word("lost rank", losses_) % options_.ranks);
        LoseNow(rank);
        ++losses_;
        LoseLater();
      });
}

void StepRun::LoseNow(uint32_t rank) {
  StepRank* const process = workers_[rank].rank;
  if (!workers_[rank].in_job) return;  // it is not back yet
  absl::Duration noticed =
      draw_.Span(absl::Milliseconds(30), "noticed", losses_);
  if (draw_.Chance(0.4, "frozen", losses_)) {
    noticed += absl::Milliseconds(60);
    process->process()->Freeze(
        noticed + draw_.Span(absl::Milliseconds(300), "thaws", losses_));
  } else {
    network_.Kill(process->process());
  }
  SimulatedExecutor* const main = coordinator_.Strand("main");
  main->PostAfter(noticed, [this, rank, life = process->life()] {
    OnLost(rank, life);
  });
  main->PostAfter(
      noticed + draw_.Span(absl::Milliseconds(200), "back", losses_),
      [this, rank] { OnJoined(rank); });
}

void StepRun::OnLost(uint32_t rank, Life life) {
  if (RankOf(life) < 0) return;
  workers_[rank].in_job = false;
  lost_.insert(life);
  EndGeneration();
}

void StepRun::OnJoined(uint32_t rank) {
  if (Over() || workers_[rank].in_job) return;
  StartRank(rank);
  workers_[rank].in_job = true;
  workers_[rank].ready = 0;
  EndGeneration();
}

void StepRun::EndGeneration() {
  Release();
  ++generation_;
  if (!std::exchange(between_, true)) changing_since_ = simulator_.Now();
  open_lanes_.clear();
  const NewGeneration message = {
      generation_,
      closer_->EndGeneration(std::vector<Life>(lost_.begin(), lost_.end()))};
  for (size_t s = 0; s < servers_.size(); ++s) {
    // Its other messages wait for this one.
    if (draw_.Chance(0.3, "stall", generation_, s)) {
      servers_[s].process->Strand("control")->Freeze(
          draw_.Span(absl::Milliseconds(60), "stalled", generation_, s));
    }
    SendToServer(s, [message](Server& server) {
      server.steps->EndGeneration(message);
    });
  }
  for (const Worker& worker : workers_) {
    if (!worker.in_job) continue;
    SendToRank(worker.rank, [number = generation_](StepRank& rank) {
      rank.Retire(number);
    });
  }
}

void StepRun::OnRankReady(Life life, uint64_t generation) {
  const int rank = RankOf(life);
  if (rank < 0) return;
  workers_[rank].ready = generation;
  BeginGeneration();
}

void StepRun::BeginGeneration() {
  if (!between_) return;
  std::vector<StepRank*> ranks;
  for (const Worker& worker : workers_) {
    if (!worker.in_job) continue;
    if (worker.ready != generation_) return;
    ranks.push_back(worker.rank);
  }
  for (const Server& server : servers_) {
    if (server.ready != generation_) return;
    if (server.steps_ready != closed_.size()) {
      return Fail("a shard has not applied all closed steps");
    }
  }
  if (ranks.empty()) return;  // until one comes back
  between_ = false;
  longest_change_ =
      std::max(longest_change_, simulator_.Now() - changing_since_);
  first_step_ = closed_.size() + 1;
  lanes_.clear();
  const uint64_t older_leases = leases_;
  std::vector<StepLane> lanes(ranks.size());
  for (size_t i = 0; i < ranks.size(); ++i) {
    lanes_.push_back(ranks[i]->life());
    lanes[i].generation = generation_;
    lanes[i].lease = ++leases_;
    open_lanes_.push_back(static_cast<int>(i));
  }
  size_t next = 0;
  for (uint32_t piece = 0; piece < options_.ranks; ++piece) {
    for (uint32_t i = 1; i <= options_.batches; ++i) {
      if (ledger_.Complete({0, piece, i})) continue;
      lanes[next++ % lanes.size()].batches.push_back({0, piece, i});
    }
  }
  StepCloserOptions closer;
  closer.ranks = lanes_;
  closer.backup_workers = std::min<uint32_t>(
      options_.backup_workers, static_cast<uint32_t>(ranks.size()) - 1);
  closer_->BeginGeneration(closer, closed_.size());
  const GenerationBegan message = {generation_, lanes_, older_leases};
  for (size_t s = 0; s < servers_.size(); ++s) {
    if (draw_.Chance(0.3, "late begin", generation_, s)) {
      servers_[s].process->Strand("control")->Freeze(
          draw_.Span(absl::Milliseconds(60), "begins", generation_, s));
    }
    SendToServer(s, [this, message](Server& server) {
      const absl::Status taken = server.steps->BeginGeneration(message);
      if (!taken.ok()) Fail(taken.ToString());
    });
  }
  for (size_t i = 0; i < ranks.size(); ++i) {
    SendToRank(ranks[i],
               [lane = lanes[i]](StepRank& rank) { rank.Join(lane); });
  }
}

// ---- The end ----------------------------------------------------------------

void StepRun::CheckEnd() {
  CheckApplied();
  for (int s = 0; s < options_.shards; ++s) CheckShard(s);
}

void StepRun::CheckApplied() {
  std::map<BatchId, std::set<uint64_t>> leases;
  for (const Server& server : servers_) {
    std::map<BatchId, int> times;
    for (const auto& [step, batches] : server.applied) {
      if (step > closed_.size()) Fail("a step was applied that was not closed");
      for (const auto& [batch, lease] : batches) {
        ++times[batch];
        leases[batch].insert(lease);
      }
      left_out_ += closed_[step - 1].size() - batches.size();
    }
    if (times.size() != uint64_t{options_.ranks} * options_.batches) {
      Fail("a batch is not applied");
    }
    for (const auto& [batch, count] : times) {
      if (count != 1) Fail(absl::StrCat(ToString(batch), " counts twice"));
    }
  }
  uint64_t mended = 0;
  for (const auto& [batch, passes] : leases) mended += passes.size() > 1;
  if (mended != ledger_.totals().mended) {
    Fail(absl::StrCat("the ledger says that ", ledger_.totals().mended,
                      " batches are mended, but ", mended, " are"));
  }
}

void StepRun::CheckShard(int shard) {
  ShardSet serial(StepModel(kOptimizer), PartitionKind::kFixedSize, 1);
  for (uint64_t step = 1; step <= closed_.size(); ++step) {
    const PushedBatches& batches = closed_[step - 1];
    const auto& applied = servers_[shard].applied[step];
    std::set<BatchId> without;
    bool adds = false;
    for (const PushedBatch& batch : batches) {
      if (!applied.contains(batch.id)) {
        without.insert(batch.id);
      } else {
        adds |= !batch.rejected;
      }
    }
    if (adds && !serial.Push(0, SerialSum(batches, without)).ok()) {
      Fail("the oracle fails");
    }
  }
  Compare(shard, &serial);
}

void StepRun::Compare(int shard, ShardSet* serial) {
  std::vector<FeatureId> ids;
  for (FeatureId id = 0; id < kStepFeatures; ++id) {
    if (ShardOf(map_.tables[0], id) == shard) ids.push_back(id);
  }
  std::vector<float> rows(ids.size() * 3);
  const std::vector<float> dense = serial->Dense();
  std::vector<std::vector<float>> blocks(map_.blocks.size());
  PullRequest pull;
  pull.identity = {"test", {1, 100}, {1, static_cast<uint32_t>(shard + 1)},
                   map_.version};
  pull.tables = {{0, ids, absl::MakeSpan(rows)}};
  for (uint32_t b = 0; b < map_.blocks.size(); ++b) {
    if (map_.blocks[b].shard != shard) continue;
    blocks[b].resize(map_.blocks[b].size());
    pull.blocks.push_back({b, absl::MakeSpan(blocks[b])});
  }
  ParameterService& service = *servers_[shard].steps;
  service.Pull(pull, absl::Seconds(1), [this](absl::StatusOr<PullReply> reply) {
    if (!reply.ok()) Fail(reply.status().ToString());
  });
  simulator_.RunFor(absl::Milliseconds(1));
  if (rows != serial->Rows(ids)) Fail("rows are not those of the serial run");
  for (size_t b = 0; b < blocks.size(); ++b) {
    const DenseBlock& block = map_.blocks[b];
    if (block.shard == shard &&
        !std::equal(blocks[b].begin(), blocks[b].end(),
                    dense.begin() + block.flat_begin)) {
      Fail("dense weights are not those of the serial run");
    }
  }
}

}  // namespace shoal
