#include "tests/sim/simulated_job.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/logger.h"
#include "base/stable_hash.h"
#include "checkpoint/checkpoint_directory.h"
#include "cluster/coordinator.h"
#include "cmd/in_process_job.h"
#include "cmd/model_directory.h"
#include "core/canary.h"
#include "gtest/gtest.h"
#include "models/backend/create_backend.h"
#include "ps/server/ps_loop.h"
#include "tests/harness/fake_file_system.h"
#include "tests/harness/in_process_run.h"
#include "tests/sim/unsealing_service.h"
#include "worker/data/open_batch_source.h"
#include "worker/data/source_list.h"
#include "worker/train/worker_loop.h"

namespace shoal {
namespace {

constexpr uint64_t kFeatures = 300;
constexpr int kFields = 4;
constexpr char kPath[] = "data/tr.libsvm";
constexpr char kEvalPath[] = "data/te.libsvm";
constexpr char kJob[] = "sim";

std::string MakeRows(int count) {
  std::string rows;
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&rows, StableHashCombine(1, i) % 2);
    for (int f = 0; f < kFields; ++f) {
      absl::StrAppend(&rows, " ", StableHashCombine(f + 2, i) % kFeatures,
                      ":1");
    }
    rows += "\n";
  }
  return rows;
}

ModelOptions ProbeOptions() {
  ModelOptions model;
  model.model = "linear_probe";
  model.feature_size = kFeatures;
  model.field_size = kFields;
  model.embedding_size = 3;
  model.seed = 5;
  OptimizerSpec sgd;
  sgd.kind = OptimizerKind::kSgd;
  sgd.learning_rate = 0.25f;
  model.dense_optimizer = sgd;
  model.table_optimizer = sgd;
  return model;
}

PartitionOptions SmallBlocks() {
  PartitionOptions partition;
  partition.cut_dense_bytes = 256;  // the probe's dense variable is cut, too
  return partition;
}

CoordinatorOptions CoordinatorFor(const SimulatedJobOptions& options) {
  CoordinatorOptions coordinator;
  coordinator.job = kJob;
  coordinator.num_ps = options.ps;
  coordinator.num_workers = options.workers;
  coordinator.batch_size = options.batch_size;
  coordinator.num_epochs = options.epochs;
  coordinator.seed = 5;
  coordinator.piece_bytes = 2000;
  coordinator.eval_every_epochs =
      static_cast<uint32_t>(options.eval_every_epochs);
  return coordinator;
}

JobFlags ModelDirectoryFlags() {
  JobFlags flags(Command::kTrain);
  flags.model_dir = "m";
  flags.keep_checkpoints = 0;
  return flags;
}

void AddFiles(const SimulatedJobOptions& options, FakeFileSystem* files) {
  files->AddFile(kPath, MakeRows(options.rows));
  files->AddFile(kEvalPath, MakeRows(options.rows / 4));
}

std::vector<LocalSource> SourcesOf(const FakeFileSystem& files,
                                   const char* path) {
  return *ListSources(&files, path);
}

class SimulatedJob {
 public:
  explicit SimulatedJob(const SimulatedJobOptions& options)
      : options_(options),
        simulator_(options.seed),
        network_(options.seed, options.faults) {
    AddFiles(options, &files_);
    ModelOptions model = ProbeOptions();
    if (options.dynamic_table) model.feature_size = 0;
    model_spec_ = *MakeModelSpec(model);
    AddCanary(&model_spec_);
    map_ = *BuildShardMap(model_spec_, SmallBlocks(), options.ps);
    reader_.feature_size = model.feature_size;
    reader_.field_size = kFields;
    reader_.seed = 5;
    reader_.shuffle_rows = 64;
  }

  SimulatedJobResult Run();

 private:
  struct PsProcess {
    std::unique_ptr<SimulatedExecutor> executor;
    std::unique_ptr<ClusterService> cluster;  // not of PS 0
    std::unique_ptr<ClusterService> unsealing;
    std::shared_ptr<ParameterShard> shard;
    std::unique_ptr<PsLoop> loop;
  };
  struct WorkerProcess {
    int index = 0;
    std::unique_ptr<SimulatedExecutor> executor;
    std::unique_ptr<ClusterService> cluster;
    std::unique_ptr<Backend> backend;
    std::unique_ptr<Model> model;
    std::unique_ptr<WorkerLoop> loop;
    bool ended = false;
  };

  uint64_t Draw() { return StableHashCombine(options_.seed, 1000 + draws_++); }
  void StartPs(int index);
  void StartWorker(int index);
  void KillOneLater();
  void BreakOneLater();
  // Once it trains, soon.
  void FreezeLater(absl::Duration span, bool all);
  void ResumeFromEach();

  const SimulatedJobOptions options_;
  Simulator simulator_;
  SimulatedNetwork network_;
  Logger logger_{{"", LogLevel::kError}};
  FakeFileSystem files_;
  ModelSpec model_spec_;
  ShardMap map_;
  PieceReaderOptions reader_;
  uint64_t draws_ = 0;
  std::unique_ptr<SimulatedExecutor> chaos_;
  std::vector<std::unique_ptr<PsProcess>> ps_;
  std::unique_ptr<Coordinator> coordinator_;
  // Killed ones stay: calls that they sent are still on their way.
  std::vector<std::unique_ptr<WorkerProcess>> workers_;
  std::vector<WorkerProcess*> running_;  // by index
  SimulatedJobResult result_;
};

void SimulatedJob::StartPs(int index) {
  PsProcess* process = ps_[index].get();
  ClusterService* cluster = coordinator_.get();
  if (index > 0) {
    process->cluster = network_.Connect(cluster, ps_[0]->executor.get(),
                                        process->executor.get());
    cluster = process->cluster.get();
  }
  if (options_.unsealed_saves) {
    process->unsealing = std::make_unique<UnsealingService>(
        cluster, [process] { return process->shard.get(); });
    cluster = process->unsealing.get();
  }
  PsLoopOptions options;
  options.member.registration.job = kJob;
  options.member.registration.role = Role::kPs;
  options.member.registration.index = index;
  options.member.registration.address = absl::StrCat("sim:", index);
  options.member.rejoin = false;
  options.shard.job = kJob;
  options.shard.model = model_spec_;
  options.shard.map = map_;
  options.shard.shard = index;
  options.checkpoints.model_dir = "m";
  PsLoopDependencies deps;
  deps.cluster = cluster;
  deps.files = &files_;
  deps.logger = &logger_;
  deps.control = process->executor.get();
  deps.completions = process->executor.get();
  deps.serve = [process](std::shared_ptr<ParameterShard> shard) {
    process->shard = std::move(shard);
  };
  deps.usage = [] { return ResourceUsage{}; };
  process->loop = std::make_unique<PsLoop>(std::move(options), std::move(deps));
  process->loop->Start([](MemberEnd) {});
}

void SimulatedJob::StartWorker(int index) {
  workers_.push_back(std::make_unique<WorkerProcess>());
  WorkerProcess* process = workers_.back().get();
  running_[index] = process;
  process->index = index;
  process->executor = std::make_unique<SimulatedExecutor>(&simulator_);
  process->cluster = network_.Connect(
      coordinator_.get(), ps_[0]->executor.get(), process->executor.get());
  process->backend = *CreateBackend("reference");
  process->model = *CreateModel(ProbeOptions(), process->backend.get());
  WorkerLoopOptions options;
  options.member.registration.job = kJob;
  options.member.registration.role = Role::kWorker;
  options.member.registration.index = index;
  options.member.registration.train_sources = {
      SourcesOf(files_, kPath)[0].info};
  options.member.registration.eval_sources = {
      SourcesOf(files_, kEvalPath)[0].info};
  options.map = map_;
  options.trainer.field_size = kFields;
  options.trainer.pipeline_depth = options_.pipeline_depth;
  options.trainer.scores.max_scores = 17;
  options.pull_timeout = absl::Seconds(1);
  options.push_timeout = absl::Seconds(1);
  WorkerLoopDependencies deps;
  deps.cluster = process->cluster.get();
  deps.model = process->model.get();
  deps.logger = &logger_;
  deps.train = process->executor.get();
  deps.control = process->executor.get();
  deps.open_source = [this, process](const Lease& lease) {
    const char* path =
        lease.purpose == LeasePurpose::kTrain ? kPath : kEvalPath;
    return OpenBatchSource(&files_, SourcesOf(files_, path)[0], lease, reader_,
                           false, process->executor.get());
  };
  deps.connect = [this, process](const ClusterView&)
      -> absl::StatusOr<std::vector<std::shared_ptr<ParameterService>>> {
    std::vector<std::shared_ptr<ParameterService>> services;
    for (const std::unique_ptr<PsProcess>& ps : ps_) {
      services.push_back(network_.Connect(ps->shard, ps->executor.get(),
                                          process->executor.get()));
    }
    return services;
  };
  deps.usage = [] { return ResourceUsage{}; };
  process->loop =
      std::make_unique<WorkerLoop>(std::move(options), std::move(deps));
  process->loop->Start([process](MemberEnd) { process->ended = true; });
}

void SimulatedJob::KillOneLater() {
  chaos_->PostAfter(absl::Milliseconds(10 + Draw() % 60), [this] {
    if (result_.finished || result_.kills == options_.kills) return;
    if (!coordinator_->Report().started) {
      KillOneLater();
      return;
    }
    const int index = static_cast<int>(Draw() % options_.workers);
    WorkerProcess* victim = running_[index];
    if (victim != nullptr && !victim->ended) {
      ++result_.kills;
      network_.Kill(victim->executor.get());
      running_[index] = nullptr;
      chaos_->PostAfter(
          absl::Milliseconds(
              Draw() % absl::ToInt64Milliseconds(options_.restart_within)),
          [this, index] { StartWorker(index); });
    }
    KillOneLater();
  });
}

void SimulatedJob::BreakOneLater() {
  if (options_.breaks == 0) return;
  chaos_->PostAfter(absl::Milliseconds(5 + Draw() % 40), [this] {
    if (result_.finished ||
        network_.counts().broken >= static_cast<uint64_t>(options_.breaks)) {
      return;
    }
    // PS 0 has the coordinator: its session has no connection to break.
    const auto index = Draw() % (options_.ps - 1 + options_.workers);
    SimulatedExecutor* process = nullptr;
    if (index < static_cast<uint64_t>(options_.ps - 1)) {
      process = ps_[index + 1]->executor.get();
    } else if (running_[index - (options_.ps - 1)] != nullptr) {
      process = running_[index - (options_.ps - 1)]->executor.get();
    }
    if (process != nullptr) network_.Break(process);
    BreakOneLater();
  });
}

void SimulatedJob::FreezeLater(absl::Duration span, bool all) {
  if (span <= absl::ZeroDuration()) return;
  chaos_->PostAfter(absl::Milliseconds(1 + Draw() % 20), [this, span, all] {
    if (result_.finished) return;
    if (!coordinator_->Report().started) {
      FreezeLater(span, all);
      return;
    }
    ++result_.freezes;
    ps_[0]->executor->Freeze(span);
    if (!all) return;
    for (const auto& ps : ps_) ps->executor->Freeze(span);
    for (WorkerProcess* worker : running_) {
      if (worker != nullptr) worker->executor->Freeze(span);
    }
  });
}

SimulatedJobResult SimulatedJob::Run() {
  chaos_ = std::make_unique<SimulatedExecutor>(&simulator_);
  for (int k = 0; k < options_.ps; ++k) {
    ps_.push_back(std::make_unique<PsProcess>());
    ps_.back()->executor = std::make_unique<SimulatedExecutor>(&simulator_);
  }
  CoordinatorOptions coordinator = CoordinatorFor(options_);
  coordinator.checkpoints.save = options_.save_steps != 0;
  coordinator.checkpoints.save_steps = options_.save_steps;
  coordinator.checkpoints.model_dir = "m";
  coordinator.checkpoints.model = model_spec_;
  coordinator.checkpoints.map = map_;
  CoordinatorWork work;
  work.write_manifest = ManifestWriter(&files_, ModelDirectoryFlags(),
                                       ps_[0]->executor.get(), &logger_);
  coordinator_ = Coordinator::Create(
      std::move(coordinator), ps_[0]->executor.get(), nullptr, std::move(work));
  coordinator_->OnFinished([this](const JobReport& report) {
    result_.report = report;
    result_.finished = true;
  });
  const absl::Time start = simulator_.Now();
  // Processes start in any order within ten seconds.
  for (int k = 0; k < options_.ps; ++k) {
    chaos_->PostAfter(absl::Milliseconds(Draw() % 10000),
                      [this, k] { StartPs(k); });
  }
  running_.resize(options_.workers);
  for (int i = 0; i < options_.workers; ++i) {
    chaos_->PostAfter(absl::Milliseconds(Draw() % 10000),
                      [this, i] { StartWorker(i); });
  }
  KillOneLater();
  BreakOneLater();
  FreezeLater(options_.freeze_all, /*all=*/true);
  FreezeLater(options_.freeze_ps0, /*all=*/false);
  simulator_.RunUntil([this] { return result_.finished; },
                      start + absl::Hours(1));
  result_.took = simulator_.Now() - start;
  result_.network = network_.counts();
  if (options_.save_steps != 0) ResumeFromEach();
  return result_;
}

// What one process without faults ends with, from a checkpoint if there is one.
JobReport RunSerial(const SimulatedJobOptions& options, FakeFileSystem* files,
                    const CheckpointInfo* from) {
  InProcessJobOptions job_options;
  job_options.model = ProbeOptions();
  job_options.partition = SmallBlocks();
  job_options.backend = "reference";
  job_options.coordinator = CoordinatorFor(options);
  job_options.reader.shuffle_rows = 64;
  job_options.worker_loop.trainer.pipeline_depth = 0;
  job_options.prefetch = false;
  job_options.train = SourcesOf(*files, kPath);
  job_options.eval = SourcesOf(*files, kEvalPath);
  if (from != nullptr) {
    if (options.dynamic_table) {
      job_options.model.feature_size = 0;
      job_options.partition.table_kind = PartitionKind::kHash;
    }
    job_options.canary = true;
    job_options.ps_loop.checkpoints.model_dir = "m";
    CheckpointOptions& checkpoints = job_options.coordinator.checkpoints;
    checkpoints.resume = std::make_shared<const Manifest>(from->manifest);
    checkpoints.resume_name = from->name;
    checkpoints.resume_text = TextOf(*ReadManifestBytes(*files, from->path));
  }
  InProcessRun run(/*schedule=*/1, /*workers=*/1, files);
  const JobReport& report = run.Run(std::move(job_options));
  EXPECT_TRUE(report.status.ok()) << report.status;
  return report;
}

void SimulatedJob::ResumeFromEach() {
  const auto all = ListCheckpoints(files_, "m");
  EXPECT_TRUE(all.ok()) << all.status();
  for (const CheckpointInfo& info : *all) {
    if (absl::IsNotFound(info.status)) continue;  // void
    EXPECT_TRUE(info.whole()) << info.path << ": " << info.status;
    if (result_.resumed_digests.size() == 8 || !info.whole()) continue;
    const JobReport report = RunSerial(options_, &files_, &info);
    EXPECT_EQ(report.trained, uint64_t{1} * options_.rows * options_.epochs);
    result_.resumed_digests.push_back(report.digest);
  }
}

}  // namespace

SimulatedJobResult RunSimulatedJob(const SimulatedJobOptions& options) {
  return SimulatedJob(options).Run();
}

JobReport RunSerialJob(const SimulatedJobOptions& options) {
  FakeFileSystem files;
  AddFiles(options, &files);
  return RunSerial(options, &files, nullptr);
}

}  // namespace shoal
