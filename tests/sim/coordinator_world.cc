#include "tests/sim/coordinator_world.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/stable_hash.h"
#include "cluster/coordinator.h"
#include "core/metrics.h"
#include "tests/harness/simulated_executor.h"
#include "tests/harness/simulated_network.h"
#include "tests/sim/simulated_worker.h"

namespace shoal {
namespace {

constexpr uint32_t kBatchSize = 8;
constexpr uint64_t kPieceBytes = 1000;
constexpr int kEvalPieces = 3;
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
        simulator_(options.seed),
        network_(options.seed, NetworkFaults{}),
        fate_(&simulator_) {}

  CoordinatorWorldResult Run();

 private:
  // Dead ones stay: what they sent is still on its way.
  struct WorkerProcess {
    std::unique_ptr<SimulatedExecutor> executor;
    std::unique_ptr<ClusterService> cluster;
    std::unique_ptr<SimulatedWorker> worker;
  };
  struct ShardProcess {
    std::unique_ptr<SimulatedExecutor> executor;
    std::unique_ptr<ClusterService> cluster;
    std::unique_ptr<SimulatedShard> shard;
  };

  uint64_t Draw() { return StableHashCombine(options_.seed, draws_++); }
  bool Chance(double chance) {
    return static_cast<double>(Draw() >> 11) * 0x1p-53 < chance;
  }
  absl::Duration Span(absl::Duration max) {
    return max * (static_cast<double>(Draw() >> 11) * 0x1p-53);
  }

  void StartWorker(int index);
  void Push(int shard, SimulatedPush push, SimulatedExecutor* sender,
            std::shared_ptr<Task> acknowledged);
  void Strike();
  void Kill(int index);
  void KillPs();
  void CountData();
  bool RightWeights(const Lease& lease) const;

  const CoordinatorWorldOptions options_;
  Simulator simulator_;
  SimulatedNetwork network_;
  SimulatedExecutor fate_;
  uint64_t draws_ = 0;
  std::vector<ShardProcess> shards_;
  std::unique_ptr<Coordinator> coordinator_;
  std::vector<WorkerProcess> workers_;
  std::vector<SimulatedWorker*> running_;  // by index; null: killed
  std::vector<SimulatedExecutor*> running_on_;
  std::vector<char> fates_;  // still to come, shuffled
  bool ps_killed_ = false;
  absl::Time ps_killed_at_;
  CoordinatorWorldResult result_;
};

void World::StartWorker(int index) {
  workers_.emplace_back();
  WorkerProcess& process = workers_.back();
  process.executor = std::make_unique<SimulatedExecutor>(&simulator_);
  SimulatedExecutor* const executor = process.executor.get();
  process.cluster =
      network_.Connect(coordinator_.get(), shards_[0].executor.get(), executor);
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
  deps.draw = [this] { return Draw(); };
  deps.examples = Examples;
  deps.verdict = VerdictOn;
  deps.right_weights = [this](const Lease& lease) {
    return RightWeights(lease);
  };
  deps.push = [this, executor](int shard, SimulatedPush push, Task done) {
    Push(shard, push, executor, std::make_shared<Task>(std::move(done)));
  };
  SimulatedWorkerOptions worker;
  worker.done_too_early = options_.done_too_early;
  process.worker = std::make_unique<SimulatedWorker>(worker, std::move(deps));
  running_[index] = process.worker.get();
  running_on_[index] = executor;
  process.worker->Start();
}

void World::Push(int shard, SimulatedPush push, SimulatedExecutor* sender,
                 std::shared_ptr<Task> acknowledged) {
  const int copies = Chance(options_.push_duplicate) ? 2 : 1;
  for (int i = 0; i < copies; ++i) {
    if (Chance(options_.push_drop)) continue;
    // Unary calls have no order: each takes its own time.
    shards_[shard].executor->PostAfter(
        Span(options_.push_delay), [this, shard, push, sender, acknowledged] {
          shards_[shard].shard->Push(push);
          if (Chance(options_.push_drop)) return;
          sender->PostAfter(Span(options_.push_delay), [acknowledged] {
            if (*acknowledged) std::exchange(*acknowledged, nullptr)();
          });
        });
  }
  sender->PostAfter(kRetry, [this, shard, push, sender, acknowledged] {
    if (*acknowledged) Push(shard, push, sender, acknowledged);
  });
}

void World::Kill(int index) {
  if (running_[index]->training()) ++result_.kills;
  network_.Kill(running_on_[index]);
  running_[index] = nullptr;
  fate_.PostAfter(Span(absl::Seconds(2)),
                  [this, index] { StartWorker(index); });
}

void World::KillPs() {
  ps_killed_ = true;
  ps_killed_at_ = simulator_.Now();
  // PS 0 holds the coordinator.
  network_.Kill(shards_[1 + Draw() % (options_.ps - 1)].executor.get());
}

void World::Strike() {
  if (result_.finished || fates_.empty()) return;
  // Some jobs are struck densely at first, others until their evaluation.
  const int dense = 1 + static_cast<int>(options_.seed % 8);
  fate_.PostAfter(absl::Milliseconds(5) + Span(dense * absl::Milliseconds(80)),
                  [this] { Strike(); });
  // Before the first lease there is nothing to break.
  if (coordinator_->Report().wall == absl::ZeroDuration()) return;
  const int index = static_cast<int>(Draw() % options_.workers);
  if (running_[index] == nullptr) return;
  const char what = fates_.back();
  fates_.pop_back();
  switch (what) {
    case 'k':
      Kill(index);
      break;
    case 'f':
      running_[index]->Freeze(absl::Milliseconds(500) +
                              Span(absl::Milliseconds(14'500)));
      break;
    case 'd':
      running_[index]->DropSession();
      break;
    case 's':
      running_[index]->set_batch_time(absl::Milliseconds(200));
      break;
    default:
      KillPs();
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
    shards_[k].executor = std::make_unique<SimulatedExecutor>(&simulator_);
  }
  CoordinatorOptions coordinator;
  coordinator.job = "sim";
  coordinator.num_ps = options_.ps;
  coordinator.num_workers = options_.workers;
  coordinator.batch_size = kBatchSize;
  coordinator.num_epochs = static_cast<uint32_t>(options_.epochs);
  coordinator.seed = options_.seed;
  coordinator.piece_bytes = kPieceBytes;
  coordinator.eval_every_epochs =
      static_cast<uint32_t>(options_.eval_every_epochs);
  coordinator_ = Coordinator::Create(coordinator, shards_[0].executor.get());
  coordinator_->OnFinished([this](const JobReport& report) {
    result_.report = report;
    result_.finished = true;
  });
  const absl::Time start = simulator_.Now();
  for (int k = 0; k < options_.ps; ++k) {
    ShardProcess& process = shards_[k];
    process.cluster = network_.Connect(
        coordinator_.get(), shards_[0].executor.get(), process.executor.get());
    process.shard = std::make_unique<SimulatedShard>(
        k, options_.shard_kind, process.executor.get(), process.cluster.get());
    fate_.PostAfter(Span(absl::Seconds(10)),
                    [shard = process.shard.get()] { shard->Start(); });
  }
  running_.resize(options_.workers);
  running_on_.resize(options_.workers);
  for (int i = 0; i < options_.workers; ++i) {
    fate_.PostAfter(Span(absl::Seconds(10)), [this, i] { StartWorker(i); });
  }
  fates_.insert(fates_.end(), options_.kills, 'k');
  fates_.insert(fates_.end(), options_.freezes, 'f');
  fates_.insert(fates_.end(), options_.session_drops, 'd');
  fates_.insert(fates_.end(), options_.slowdowns, 's');
  for (size_t i = fates_.size(); i > 1; --i) {
    std::swap(fates_[i - 1], fates_[Draw() % i]);
  }
  if (options_.kill_ps) {
    // Struck from the end: among the first few.
    fates_.insert(fates_.end() - static_cast<int>(Draw() % 4), 'p');
  }
  Strike();
  simulator_.RunUntil([this] { return result_.finished; },
                      start + absl::Hours(24));
  result_.took = simulator_.Now() - start;
  result_.end_took = simulator_.Now() - ps_killed_at_;
  // Whoever was away at the end hears of it when it asks again.
  simulator_.RunFor(absl::Seconds(30));
  for (const ShardProcess& process : shards_) {
    result_.books.push_back(process.shard->book());
    if (!process.executor->killed() && !process.shard->heard_end()) {
      ++result_.left_behind;
    }
  }
  for (const SimulatedWorker* worker : running_) {
    if (worker != nullptr && !worker->ended()) ++result_.left_behind;
  }
  return std::move(result_);
}

// The counters of the ledger's line, from the shards' books alone.
std::string TrueLedgerLine(const CoordinatorWorldResult& result) {
  std::map<BatchId, std::set<uint64_t>> first_leases;
  std::map<BatchId, std::set<uint64_t>> all_leases;
  uint64_t repeats = 0;
  for (const ShardBook& book : result.books) {
    repeats += book.repeats_refused;
    for (const auto& [batch, lease] : book.leases) {
      first_leases[batch].insert(lease);
    }
    for (const auto& [batch, leases] : book.all_leases) {
      all_leases[batch].insert(leases.begin(), leases.end());
    }
  }
  uint64_t mended = 0;
  uint64_t recomputed = 0;
  for (const auto& [batch, leases] : first_leases) mended += leases.size() > 1;
  for (const auto& [batch, leases] : all_leases) {
    recomputed += leases.size() > 1;
  }
  return absl::StrCat("samples ", result.samples, " = ",
                      result.samples - result.rejected, " trained + ",
                      result.rejected, " rejected + 0 lost; batches ",
                      result.batches, ": ", mended, " mended, ", recomputed,
                      " recomputed, ", repeats, " repeats refused");
}

}  // namespace

CoordinatorWorldResult RunCoordinatorWorld(
    const CoordinatorWorldOptions& options) {
  return World(options).Run();
}

std::vector<std::string> Complaints(const CoordinatorWorldOptions& options,
                                    const CoordinatorWorldResult& result) {
  std::vector<std::string> complaints;
  const auto complain = [&](const std::string& what) {
    complaints.push_back(what);
  };
  if (!result.finished) complain("the job hangs");
  if (!result.report.status.ok()) {
    complain(absl::StrCat("the job failed: ", result.report.status.ToString()));
  }
  if (result.left_behind != 0) {
    complain(
        absl::StrCat(result.left_behind, " processes never heard the end"));
  }
  for (size_t k = 0; k < result.books.size(); ++k) {
    const std::map<BatchId, int>& canaries = result.books[k].canaries;
    if (canaries.size() != result.batches) {
      complain(absl::StrCat("shard ", k, " has ", canaries.size(),
                            " batches of ", result.batches));
    }
    for (const auto& [batch, count] : canaries) {
      if (count != 1) {
        complain(absl::StrCat("shard ", k, " applied batch ", ToString(batch),
                              " ", count, " times"));
      }
    }
  }
  if (complaints.empty()) {
    const std::string expected = TrueLedgerLine(result);
    const std::string said = LedgerLine(result.report);
    if (said != expected) {
      complain(absl::StrCat("the ledger says '", said, "', true is '", expected,
                            "'"));
    }
    const int every = options.eval_every_epochs;
    const int evaluations = !options.evaluate ? 0
                            : every == 0      ? 1
                                         : (options.epochs + every - 1) / every;
    if (result.report.evals.size() != static_cast<size_t>(evaluations)) {
      complain(absl::StrCat(result.report.evals.size(), " evaluations, not ",
                            evaluations));
    }
    for (const EvalReport& eval : result.report.evals) {
      uint64_t of_workers = 0;
      for (const auto& [worker, rows] : eval.examples_of_worker) {
        of_workers += rows;
      }
      if (eval.examples != result.eval_examples ||
          of_workers != result.eval_examples) {
        complain(absl::StrCat("evaluated on ", eval.examples, " examples, ",
                              of_workers, " by worker, of ",
                              result.eval_examples));
      }
      if (std::abs(eval.logloss - LogLoss(1, 1)) > 1e-9) {
        complain(absl::StrCat("evaluation after epoch ", eval.epoch,
                              " counts scores of other weights: logloss ",
                              eval.logloss));
      }
    }
  }
  return complaints;
}

}  // namespace shoal
