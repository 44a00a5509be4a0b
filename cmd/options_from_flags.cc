#include "cmd/options_from_flags.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/output_path.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "core/canary.h"
#include "core/optimizer_spec.h"
#include "models/create_model.h"
#include "models/model_table.h"
#include "partitioner/build_shard_map.h"
#include "rpc/channel_options.h"

namespace shoal {
namespace {

absl::StatusOr<OptimizerSpec> Optimizer(const JobFlags& flags,
                                        absl::string_view name,
                                        double learning_rate, double l2,
                                        int64_t warmup_batches) {
  OptimizerSpec spec;
  SHOAL_ASSIGN_OR_RETURN(spec.kind, ParseOptimizerKind(name));
  spec.learning_rate = static_cast<float>(learning_rate);
  spec.warmup_batches = static_cast<uint64_t>(warmup_batches);
  spec.l2 = static_cast<float>(l2);
  if (flags.l2_scope == "table") spec.l2_scope = L2Scope::kTable;
  spec.adagrad_initial_accumulator =
      static_cast<float>(flags.adagrad_initial_accumulator);
  spec.ftrl_initial_accumulator =
      static_cast<float>(flags.ftrl_initial_accumulator);
  spec.ftrl_l1 = static_cast<float>(flags.ftrl_l1);
  spec.ftrl_l2 = static_cast<float>(flags.ftrl_l2);
  spec.adam_beta1 = static_cast<float>(flags.adam_beta1);
  spec.adam_beta2 = static_cast<float>(flags.adam_beta2);
  spec.adam_epsilon = static_cast<float>(flags.adam_epsilon);
  return spec;
}

absl::StatusOr<ModelOptions> ModelOptionsFromFlags(const JobFlags& flags) {
  ModelOptions options;
  options.model = flags.model;
  options.feature_size = flags.feature_size;
  options.table_row_limit = flags.table_row_limit;
  options.table_full =
      flags.table_full == "share" ? TableFull::kShare : TableFull::kRefuse;
  options.field_size = flags.field_size;
  options.embedding_size = flags.embedding_size;
  options.deep_layers = flags.deep_layers;
  options.dropout_keep.assign(flags.dropout.begin(), flags.dropout.end());
  options.first_layer = flags.first_layer == "dense" ? FirstLayer::kDense
                        : flags.first_layer == "distinct"
                            ? FirstLayer::kDistinct
                            : FirstLayer::kAuto;
  options.seed = flags.seed;
  SHOAL_ASSIGN_OR_RETURN(options.dense_optimizer,
                         Optimizer(flags, flags.optimizer, flags.learning_rate,
                                   flags.dense_l2_reg, flags.warmup_batches));
  SHOAL_ASSIGN_OR_RETURN(
      options.table_optimizer,
      Optimizer(flags, flags.TableOptimizer(), flags.TableLearningRate(),
                flags.l2_reg, flags.TableWarmupBatches()));
  SHOAL_ASSIGN_OR_RETURN(
      options.wide_optimizer,
      Optimizer(flags, flags.WideOptimizer(), flags.WideLearningRate(),
                flags.WideL2(), flags.TableWarmupBatches()));
  return options;
}

PartitionKind PartitionKindFromFlags(const JobFlags& flags) {
  // Dynamic tables are placed by hash whatever this says.
  if (flags.partition == "mod") return PartitionKind::kMod;
  return PartitionKind::kFixedSize;
}

ClusterMemberOptions MemberOptions(const JobFlags& flags, const JobPlan& plan,
                                   Role role, int index) {
  ClusterMemberOptions options;
  options.registration.job = plan.job;
  options.registration.config = plan.config;
  options.registration.role = role;
  options.registration.index = index;
  options.rejoin = role == Role::kWorker;
  options.start_deadline = flags.start_timeout;
  options.reconnect_deadline = 2 * flags.silent_after;
  options.shutdown_deadline = flags.shutdown_timeout;
  return options;
}

// A place that was asked for and cannot be written is better known now than at
// a bad row.
absl::Status CheckWritable(const FileSystem& files,
                           const std::string& quarantine_dir, int worker) {
  // It is made with the first bad row; until then what will hold it is tried.
  std::string there = CleanPath(quarantine_dir);
  while (absl::IsNotFound(files.OpenForRead(there).status())) {
    there = std::string(Dirname(there));
  }
  const std::string probe = JoinPath(there, absl::StrCat(".worker-", worker));
  absl::Status writable = files.Create(probe).status();
  if (writable.ok()) writable = files.Remove(probe);
  return Annotate(writable, "--quarantine_dir");
}

const ScoreMetrics& MetricsOf(const JobPlan& plan) {
  return FindModel(plan.model.model)->objective->metrics();
}

}  // namespace

absl::StatusOr<JobPlan> PlanJob(const JobFlags& flags) {
  JobPlan plan;
  plan.job = flags.job;
  plan.config = flags.CanonicalConfig();
  SHOAL_ASSIGN_OR_RETURN(plan.model, ModelOptionsFromFlags(flags));
  SHOAL_ASSIGN_OR_RETURN(plan.spec, MakeModelSpec(plan.model));
  if (flags.canary) AddCanary(&plan.spec);
  plan.partition.table_kind = PartitionKindFromFlags(flags);
  SHOAL_ASSIGN_OR_RETURN(plan.map,
                         BuildShardMap(plan.spec, plan.partition, flags.ps));
  return plan;
}

CoordinatorOptions CoordinatorOptionsFromFlags(const JobFlags& flags,
                                               const JobPlan& plan) {
  CoordinatorOptions options;
  options.job = plan.job;
  options.config = plan.config;
  options.num_ps = flags.ps;
  if (!flags.ps_hosts.empty()) {
    options.ps_addresses = absl::StrSplit(flags.ps_hosts, ',');
  }
  options.num_workers = flags.workers;
  options.batch_size = static_cast<uint32_t>(flags.batch_size);
  options.num_epochs = static_cast<uint32_t>(flags.num_epochs);
  options.seed = flags.seed;
  options.shuffle = flags.shuffle;
  options.piece_bytes = flags.piece_bytes;
  options.host_files = flags.data_scope == "host";
  options.warmup_steps = flags.warmup_steps;
  options.max_bad_rows = flags.max_bad_rows;
  options.auc_exact_rows = flags.auc_exact_rows;
  options.metrics = &MetricsOf(plan);
  options.eval_every_epochs = static_cast<uint32_t>(flags.eval_every_epochs);
  if (flags.task_type == "eval") options.task = JobTask::kEvaluate;
  if (flags.task_type == "infer") options.task = JobTask::kInfer;
  options.heartbeat_interval = flags.heartbeat;
  options.silent_after = flags.silent_after;
  options.worker_lease = flags.worker_lease;
  options.start_deadline = flags.start_timeout;
  options.worker_grace = flags.worker_grace;
  options.speculate_after = flags.speculate_after;
  options.progress_deadline = flags.progress_timeout;
  options.linger = flags.linger;
  return options;
}

PsLoopOptions PsLoopOptionsFromFlags(const JobFlags& flags, const JobPlan& plan,
                                     int shard) {
  PsLoopOptions options;
  options.member = MemberOptions(flags, plan, Role::kPs, shard);
  options.shard.job = plan.job;
  options.shard.model = plan.spec;
  options.shard.map = plan.map;
  options.shard.shard = shard;
  options.shard.max_bytes = flags.max_ps_bytes;
  options.ps_lease = flags.ps_lease;
  options.checkpoints.model_dir = flags.model_dir;
  options.checkpoints.keep_checkpoints = flags.keep_checkpoints;
  options.checkpoints.weights_only = flags.task_type != "train";
  return options;
}

WorkerLoopOptions WorkerLoopOptionsFromFlags(const JobFlags& flags,
                                             const JobPlan& plan, int index) {
  WorkerLoopOptions options;
  options.member = MemberOptions(flags, plan, Role::kWorker, index);
  options.map = plan.map;
  options.trainer.field_size = flags.field_size;
  options.trainer.pipeline_depth = flags.PipelineDepth();
  // A score and its label take five bytes.
  options.trainer.scores.max_scores = std::min<uint64_t>(
      options.trainer.scores.max_scores,
      (static_cast<uint64_t>(flags.max_message_bytes) - kMessageOverhead) / 5);
  options.trainer.clip_norm = flags.clip_norm;
  options.pull_timeout = flags.pull_timeout;
  options.push_timeout = flags.push_timeout;
  return options;
}

DataFormat DataFormatFromFlags(const JobFlags& flags) {
  return ParseDataFormat(flags.data_format).value_or(DataFormat::kAuto);
}

absl::StatusOr<std::unique_ptr<Quarantine>> QuarantineFromFlags(
    const JobFlags& flags, const FileSystem* file_system, int worker,
    Logger* logger) {
  QuarantineOptions options;
  options.directory = flags.QuarantineDir();
  if (options.directory.empty()) return std::unique_ptr<Quarantine>();
  if (!flags.quarantine_dir.empty()) {
    SHOAL_RETURN_IF_ERROR(
        CheckWritable(*file_system, flags.quarantine_dir, worker));
  } else {
    options.on_failure = [logger](const absl::Status& why) {
      logger->Warn(
          absl::StrCat("bad rows are counted and not written: ", why.message(),
                       "; --quarantine_dir names another place"));
    };
  }
  options.name = absl::StrCat("worker-", worker);
  // The row that is one too many for the job is worth seeing too.
  if (flags.max_bad_rows >= 0) {
    options.max_rows = std::min(options.max_rows,
                                static_cast<uint64_t>(flags.max_bad_rows) + 1);
  }
  return std::make_unique<Quarantine>(file_system, std::move(options));
}

PieceReaderOptions PieceReaderOptionsFromFlags(const JobFlags& flags,
                                               Quarantine* quarantine) {
  PieceReaderOptions options;
  options.format = DataFormatFromFlags(flags);
  options.parse_threads = flags.parse_threads;
  options.quarantine = quarantine;
  options.feature_size = flags.feature_size;
  options.field_size = flags.field_size;
  options.seed = flags.seed;
  options.shuffle = flags.shuffle;
  options.shuffle_rows = static_cast<uint32_t>(flags.shuffle_rows);
  return options;
}

absl::StatusOr<std::unique_ptr<PredictionsFile>> PredictionsFileFromFlags(
    const JobFlags& flags, const JobPlan& plan, const FileSystem* files) {
  if (flags.task_type != "infer") return std::unique_ptr<PredictionsFile>();
  const auto path = OutputPath(flags.PredictionsFile());
  SHOAL_RETURN_IF_ERROR(Annotate(path.status(), "--predictions_file"));
  auto file = PredictionsFile::Create(files, *path,
                                      flags.predictions_format == "binary"
                                          ? PredictionsFormat::kBinary
                                          : PredictionsFormat::kText,
                                      &MetricsOf(plan));
  if (!file.ok()) return Annotate(file.status(), "--predictions_file");
  return file;
}

CoordinatorWork CoordinatorWorkOf(Executor* strand, PredictionsFile* file) {
  CoordinatorWork work;
  work.strand = strand;
  if (file != nullptr) {
    work.write_predictions = [file](absl::Span<const float> logits, bool last) {
      return file->Write(logits, last);
    };
  }
  return work;
}

}  // namespace shoal
