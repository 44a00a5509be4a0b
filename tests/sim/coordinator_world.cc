#include "tests/sim/coordinator_world.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/stable_hash.h"
#include "coordinator/coordinator.h"
#include "tests/harness/keyed_draw.h"
#include "tests/harness/simulated_network.h"
#include "tests/harness/simulated_process.h"
#include "tests/harness/simulated_sessions.h"
#include "tests/sim/simulated_worker.h"

namespace shoal {
namespace {

constexpr uint32_t kBatchSize = 8;
constexpr uint64_t kPieceBytes = 1000;
constexpr int kEvalPieces = 3;
constexpr char kCoordinator[] = "sim:0";
constexpr absl::Duration kRetry = absl::Milliseconds(500);

// The data: functions of the piece alone.
uint64_t Examples(LeasePurpose purpose, uint32_t piece) {
  const uint64_t hash =
      StableHashCombine(static_cast<uint64_t>(purpose), piece);
  return hash % 7 == 0 ? 0 : hash % 200;  // some pieces are empty
}

Verdict VerdictOn(const BatchId& batch) {
  const uint64_t hash = StableHashCombine(
      StableHashCombine(batch.epoch, batch.piece), batch.index);
  return hash % 40 == 0 ? Verdict::kRejected : Verdict::kApplied;
}

class World {
 public:
  explicit World(const CoordinatorWorldOptions& options)
      : options_(options),
        draw_(options.seed),
        simulator_(options.seed),
        network_(&simulator_, options.seed, NetworkFaults{}),
        fate_(&simulator_, "fate") {}
  ~World() {
    fate_.Kill();
    for (const WorkerProcess& worker : workers_) worker.process->Kill();
    for (const ShardProcess& shard : shards_) shard.process->Kill();
  }

  CoordinatorWorldResult Run();

 private:
  // Dead ones stay: what they sent is still on its way.
  struct WorkerProcess {
    std::unique_ptr<SimulatedProcess> process;
    std::unique_ptr<ClusterService> cluster;
    std::unique_ptr<SimulatedWorker> worker;
  };
  struct ShardProcess {
    std::unique_ptr<SimulatedProcess> process;
    std::unique_ptr<ClusterService> cluster;
    std::unique_ptr<SimulatedShard> shard;

    SimulatedExecutor* executor() const { return process->Strand("main"); }
  };

  void StartWorker(int index);
  // The `attempt`th, from 0; `draw` is of this push.
  void Push(int shard, SimulatedPush push, SimulatedExecutor* sender,
            KeyedDraw draw, int attempt, std::shared_ptr<Task> acknowledged);
  // The first lease is there, or soon.
  void AwaitTraining();
  // Lets the faults of one kind come, each at its own time to its own victim.
  void Plan(const std::string& kind, int count,
            void (World::*strike)(int index, const KeyedDraw& draw));
  void Kill(int index, const KeyedDraw& draw);
  void Freeze(int index, const KeyedDraw& draw);
  void DropSession(int index, const KeyedDraw& draw);
  void SlowDown(int index, const KeyedDraw& draw);
  void KillPs();
  void CountData();
  bool RightWeights(const Lease& lease) const;

  const CoordinatorWorldOptions options_;
  const KeyedDraw draw_;
  Simulator simulator_;
  SimulatedNetwork network_;
  SimulatedExecutor fate_;
  std::vector<ShardProcess> shards_;
  std::unique_ptr<Coordinator> coordinator_;
  std::vector<WorkerProcess> workers_;
  std::vector<int> starts_;                // of each worker
  std::vector<SimulatedWorker*> running_;  // by index; null: killed
  std::vector<SimulatedProcess*> running_on_;
  absl::Time ps_killed_at_;
  CoordinatorWorldResult result_;
};

void World::StartWorker(int index) {
  workers_.emplace_back();
  WorkerProcess& process = workers_.back();
  process.process = std::make_unique<SimulatedProcess>(
      &simulator_, absl::StrCat("worker ", index), ++starts_[index]);
  SimulatedExecutor* const executor = process.process->Strand("main");
  const KeyedDraw draw = draw_.Of(process.process->id());
  process.cluster = std::make_unique<SimulatedSessions>(
      &network_, process.process.get(), executor, kCoordinator);
  SimulatedWorkerDependencies deps;
  deps.executor = executor;
  deps.cluster = process.cluster.get();
  deps.registration.job = "sim";
  deps.registration.role = Role::kWorker;
  deps.registration.index = index;
  deps.registration.train_sources = {
      {"train", kPieceBytes * static_cast<uint64_t>(options_.pieces), 0}};
  if (options_.evaluate) {
    deps.registration.eval_sources = {{"eval", kPieceBytes * kEvalPieces, 0}};
  }
  deps.num_shards = options_.ps;
  deps.draw = draw;
  deps.examples = Examples;
  deps.verdict = VerdictOn;
  deps.right_weights = [this](const Lease& lease) {
    return RightWeights(lease);
  };
  deps.push = [this, executor, draw](int shard, SimulatedPush push, Task done) {
    Push(shard, push, executor,
         draw.Of("push", shard, push.lease, push.batch.epoch, push.batch.piece,
                 push.batch.index),
         /*attempt=*/0, std::make_shared<Task>(std::move(done)));
  };
  SimulatedWorkerOptions worker;
  worker.done_too_early = options_.done_too_early;
  process.worker = std::make_unique<SimulatedWorker>(worker, std::move(deps));
  running_[index] = process.worker.get();
  running_on_[index] = process.process.get();
  process.worker->Start();
}

void World::Push(int shard, SimulatedPush push, SimulatedExecutor* sender,
                 KeyedDraw draw, int attempt,
                 std::shared_ptr<Task> acknowledged) {
  const KeyedDraw now = draw.Of(attempt);
  const int copies = now.Chance(options_.push_duplicate, "duplicate") ? 2 : 1;
  for (int i = 0; i < copies; ++i) {
    const KeyedDraw copy = now.Of(i);
    if (copy.Chance(options_.push_drop, "drop")) continue;
    // Unary calls have no order: each takes its own time.
    shards_[shard].executor()->PostAfter(
        copy.Span(options_.push_delay, "delay"),
        [this, shard, push, sender, copy, acknowledged] {
          shards_[shard].shard->Push(push);
          if (copy.Chance(options_.push_drop, "drop the answer")) return;
          sender->PostAfter(copy.Span(options_.push_delay, "answer"),
                            [acknowledged] {
                              if (!*acknowledged) return;
                              std::exchange(*acknowledged, nullptr)();
                            });
        });
  }
  sender->PostAfter(kRetry, [this, shard, push, sender, draw, attempt,
                             acknowledged] {
    if (*acknowledged) {
      Push(shard, push, sender, draw, attempt + 1, acknowledged);
    }
  });
}

void World::Kill(int index, const KeyedDraw& draw) {
  if (running_[index]->training()) ++result_.kills;
  network_.Kill(running_on_[index]);
  running_[index] = nullptr;
  fate_.PostAfter(draw.Span(absl::Seconds(2), "restart"),
                  [this, index] { StartWorker(index); });
}

void World::Freeze(int index, const KeyedDraw& draw) {
  running_[index]->Freeze(absl::Milliseconds(500) +
                          draw.Span(absl::Milliseconds(14'500), "span"));
}

void World::DropSession(int index, const KeyedDraw& draw) {
  running_[index]->DropSession();
}

void World::SlowDown(int index, const KeyedDraw& draw) {
  running_[index]->set_batch_time(absl::Milliseconds(200));
}

void World::KillPs() {
  ps_killed_at_ = simulator_.Now();
  // PS 0 holds the coordinator.
  const uint64_t index = 1 + draw_.Word("kill ps") % (options_.ps - 1);
  network_.Kill(shards_[index].process.get());
}

void World::Plan(const std::string& kind, int count,
                 void (World::*strike)(int index, const KeyedDraw& draw)) {
  // Some jobs are struck densely at first, others until their evaluation.
  const int dense = 1 + static_cast<int>(options_.seed % 8);
  const absl::Duration all = absl::Milliseconds(110) * (1 + 8 * dense);
  for (int i = 0; i < count; ++i) {
    const KeyedDraw draw = draw_.Of(kind, i);
    const int index =
        static_cast<int>(draw.Word("victim") % options_.workers);
    fate_.PostAfter(draw.Span(all, "time"), [this, index, draw, strike] {
      if (result_.finished || running_[index] == nullptr) return;
      (this->*strike)(index, draw);
    });
  }
}

void World::AwaitTraining() {
  // Before the first lease there is nothing to break.
  if (coordinator_->Report().wall == absl::ZeroDuration()) {
    fate_.PostAfter(absl::Milliseconds(5), [this] { AwaitTraining(); });
    return;
  }
  Plan("kill", options_.kills, &World::Kill);
  Plan("freeze", options_.freezes, &World::Freeze);
  Plan("drop session", options_.session_drops, &World::DropSession);
  Plan("slow down", options_.slowdowns, &World::SlowDown);
  if (options_.kill_ps) {
    fate_.PostAfter(absl::Milliseconds(5) +
                        draw_.Span(absl::Milliseconds(200), "when to kill ps"),
                    [this] {
                      if (!result_.finished) KillPs();
                    });
  }
}

bool World::RightWeights(const Lease& lease) const {
  const auto every = static_cast<uint32_t>(options_.eval_every_epochs);
  const auto all = static_cast<uint32_t>(options_.epochs);
  const uint32_t epochs =
      every == 0 ? all : std::min(all, (lease.epoch + 1) * every);
  return std::all_of(shards_.begin(), shards_.end(),
                     [&](const ShardProcess& process) {
                       return process.shard->book().canaries.size() ==
                              result_.batches / all * epochs;
                     });
}

void World::CountData() {
  for (int piece = 0; piece < options_.pieces; ++piece) {
    const uint64_t examples = Examples(LeasePurpose::kTrain, piece);
    for (int epoch = 0; epoch < options_.epochs; ++epoch) {
      for (uint64_t at = 0; at < examples; at += kBatchSize) {
        const BatchId batch{static_cast<uint32_t>(epoch),
                            static_cast<uint32_t>(piece),
                            static_cast<uint32_t>(at / kBatchSize)};
        const uint64_t size =
            examples - at < kBatchSize ? examples - at : kBatchSize;
        ++result_.batches;
        result_.samples += size;
        if (VerdictOn(batch) == Verdict::kRejected) result_.rejected += size;
      }
    }
  }
  for (int piece = 0; options_.evaluate && piece < kEvalPieces; ++piece) {
    result_.eval_examples += Examples(LeasePurpose::kEvaluate, piece);
  }
}

CoordinatorWorldResult World::Run() {
  CountData();
  for (int k = 0; k < options_.ps; ++k) {
    shards_.emplace_back();
    shards_[k].process = std::make_unique<SimulatedProcess>(
        &simulator_, absl::StrCat("ps ", k), 1);
  }
  CoordinatorOptions coordinator;
  coordinator.job = "sim";
  coordinator.ps.count = options_.ps;
  coordinator.num_workers = options_.workers;
  coordinator.batch_size = kBatchSize;
  coordinator.num_epochs = static_cast<uint32_t>(options_.epochs);
  coordinator.seed = options_.seed;
  coordinator.piece_bytes = kPieceBytes;
  coordinator.eval_every_epochs =
      static_cast<uint32_t>(options_.eval_every_epochs);
  coordinator_ = Coordinator::Create(coordinator, shards_[0].executor());
  coordinator_->OnFinished([this](const JobReport& report) {
    result_.report = report;
    result_.finished = true;
  });
  network_.Listen(kCoordinator, shards_[0].process.get())->cluster =
      coordinator_.get();
  const absl::Time start = simulator_.Now();
  for (int k = 0; k < options_.ps; ++k) {
    ShardProcess& process = shards_[k];
    process.cluster = std::make_unique<SimulatedSessions>(
        &network_, process.process.get(), process.executor(), kCoordinator);
    process.shard = std::make_unique<SimulatedShard>(
        k, options_.shard_kind, process.executor(), process.cluster.get());
    fate_.PostAfter(draw_.Span(absl::Seconds(10), "start ps", k),
                    [shard = process.shard.get()] { shard->Start(); });
  }
  running_.resize(options_.workers);
  running_on_.resize(options_.workers);
  starts_.resize(options_.workers);
  for (int i = 0; i < options_.workers; ++i) {
    fate_.PostAfter(draw_.Span(absl::Seconds(10), "start worker", i),
                    [this, i] { StartWorker(i); });
  }
  AwaitTraining();
  simulator_.RunUntil([this] { return result_.finished; },
                      start + absl::Hours(24));
  result_.took = simulator_.Now() - start;
  result_.end_took = simulator_.Now() - ps_killed_at_;
  // Whoever was away at the end hears of it when it asks again.
  simulator_.RunFor(absl::Seconds(30));
  for (const ShardProcess& process : shards_) {
    result_.books.push_back(process.shard->book());
    if (!process.process->killed() && !process.shard->heard_end()) {
      ++result_.left_behind;
    }
  }
  for (const SimulatedWorker* worker : running_) {
    if (worker != nullptr && !worker->ended()) ++result_.left_behind;
  }
  return std::move(result_);
}

}  // namespace

CoordinatorWorldResult RunCoordinatorWorld(
    const CoordinatorWorldOptions& options) {
  return World(options).Run();
}

}  // namespace shoal
