#include "tests/sim/probe_job.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/stable_hash.h"
#include "core/canary.h"
#include "gtest/gtest.h"
#include "job/in_process_job.h"
#include "tests/harness/in_process_run.h"

namespace shoal {
namespace {

constexpr uint64_t kFeatures = 300;
constexpr char kPath[] = "data/tr.libsvm";
constexpr char kEvalPath[] = "data/te.libsvm";

std::string MakeRows(int count) {
  std::string rows;
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&rows, StableHashCombine(1, i) % 2);
    for (int f = 0; f < kProbeFields; ++f) {
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
  model.field_size = kProbeFields;
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

CoordinatorOptions CoordinatorOf(const ProbeJobOptions& options) {
  CoordinatorOptions coordinator;
  coordinator.job = kProbeJob;
  coordinator.ps.count = options.ps;
  coordinator.num_workers = options.workers;
  coordinator.batch_size = options.batch_size;
  coordinator.num_epochs = options.epochs;
  coordinator.seed = 5;
  coordinator.piece_bytes = 2000;
  coordinator.eval_every_epochs =
      static_cast<uint32_t>(options.eval_every_epochs);
  return coordinator;
}

}  // namespace

ProbeJob::ProbeJob(const ProbeJobOptions& job_options)
    : options(job_options), model(ProbeOptions()) {
  ModelOptions of_table = model;
  if (options.dynamic_table) of_table.feature_size = 0;
  spec = *MakeModelSpec(of_table);
  AddCanary(&spec);
  map = *BuildShardMap(spec, SmallBlocks(), options.ps);
  reader.feature_size = of_table.feature_size;
  reader.field_size = kProbeFields;
  reader.seed = 5;
  reader.shuffle_rows = 64;
}

JobPlan ProbeJob::Plan() const {
  JobPlan plan;
  plan.job = kProbeJob;
  plan.model = model;
  plan.spec = spec;
  plan.partition = SmallBlocks();
  plan.map = map;
  plan.ps.count = options.ps;
  return plan;
}

CoordinatorOptions ProbeJob::Coordinator() const {
  return CoordinatorOf(options);
}

JobFlags ProbeJob::ModelDirectoryFlags() const {
  JobFlags flags(Command::kPs);
  flags.checkpoints.model_dir = kProbeModelDir;
  flags.checkpoints.keep_checkpoints = 0;
  return flags;
}

void AddProbeFiles(
    const ProbeJobOptions& options,
    absl::FunctionRef<void(const std::string& path, std::string bytes)> add) {
  add(kPath, MakeRows(options.rows));
  add(kEvalPath, MakeRows(options.rows / 4));
}

std::vector<LocalSource> ProbeSources(const FileSystem& files,
                                      LeasePurpose purpose) {
  return *ListSources(&files,
                      purpose == LeasePurpose::kTrain ? kPath : kEvalPath);
}

JobReport RunSerialProbe(const ProbeJobOptions& options, FakeFileSystem* files,
                         const CheckpointInfo* from) {
  InProcessJobOptions job_options;
  job_options.model = ProbeOptions();
  job_options.partition = SmallBlocks();
  job_options.backend = "reference";
  job_options.coordinator = CoordinatorOf(options);
  job_options.reader.shuffle_rows = 64;
  job_options.worker_loop.trainer.pipeline_depth = 0;
  job_options.prefetch = false;
  job_options.train = ProbeSources(*files, LeasePurpose::kTrain);
  job_options.eval = ProbeSources(*files, LeasePurpose::kEvaluate);
  if (from != nullptr) {
    if (options.dynamic_table) {
      job_options.model.feature_size = 0;
      job_options.partition.table_kind = PartitionKind::kHash;
    }
    job_options.canary = true;
    job_options.ps_loop.checkpoints.model_dir = kProbeModelDir;
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

JobReport RunSerialProbe(const ProbeJobOptions& options) {
  FakeFileSystem files;
  AddProbeFiles(options, [&](const std::string& path, std::string bytes) {
    files.AddFile(path, std::move(bytes));
  });
  return RunSerialProbe(options, &files, nullptr);
}

}  // namespace shoal
