#include "job/options_from_flags.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/output_path.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "core/optimizer_spec.h"
#include "job/training_mode.h"
#include "models/model_table.h"
#include "rpc/channel_options.h"
#include "rpc/keepalive.h"
#include "rpc/parameter_client.h"

namespace shoal {
namespace {

// The time of a push that waits for the pushes of other workers, in push
// timeouts. The push is sent again after it, with all its bytes, so that a rank
// that is a minute behind costs each other rank one more push.
constexpr int kPushTimeoutsOfStep = 6;

OptimizerSpec Optimizer(const OptimizerFlags& flags, OptimizerKind kind,
                        double learning_rate, double l2,
                        int64_t warmup_batches) {
  OptimizerSpec spec;
  spec.kind = kind;
  spec.learning_rate = static_cast<float>(learning_rate);
  spec.warmup_batches = static_cast<uint64_t>(warmup_batches);
  spec.l2 = static_cast<float>(l2);
  spec.l2_scope = flags.l2_scope;
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

ModelOptions ModelOptionsFromFlags(const JobFlags& flags) {
  ModelOptions options;
  options.model = flags.model.model;
  options.feature_size = flags.model.feature_size;
  options.table_row_limit = flags.model.table_row_limit;
  options.table_full = flags.model.table_full;
  options.field_size = flags.model.field_size;
  options.embedding_size = flags.model.embedding_size;
  options.deep_layers = flags.model.deep_layers;
  const std::vector<double> keep = flags.model.KeepProb();
  options.dropout_keep.assign(keep.begin(), keep.end());
  options.first_layer = flags.training.first_layer;
  options.seed = flags.model.seed;
  const OptimizerFlags all = flags.optimizers.Resolved();
  options.dense_optimizer = Optimizer(all, all.optimizer, all.learning_rate,
                                      all.dense_l2_reg, all.warmup_batches);
  options.table_optimizer =
      Optimizer(all, *all.table_optimizer, all.table_learning_rate, all.l2_reg,
                all.table_warmup_batches);
  options.wide_optimizer =
      Optimizer(all, *all.wide_optimizer, all.wide_learning_rate,
                all.wide_l2_reg, all.table_warmup_batches);
  return options;
}

PartitionKind PartitionKindFromFlags(const JobFlags& flags) {
  // Dynamic tables are always placed by hash.
  const PartitionKind kind = flags.Partition();
  return kind == PartitionKind::kHash ? PartitionKind::kFixedSize : kind;
}

ClusterMemberOptions MemberOptions(const JobFlags& flags) {
  ClusterMemberOptions options;
  options.start_deadline = flags.deadlines.start_timeout;
  options.reconnect_deadline = 2 * flags.deadlines.silent_after;
  options.shutdown_deadline = flags.deadlines.shutdown_timeout;
  return options;
}

// Checks that --quarantine_dir can be written, so that a user learns of a wrong
// directory at the start and not at the first bad row.
absl::Status CheckWritable(const FileSystem& files,
                           const std::string& quarantine_dir, int worker) {
  // The directory is made with the first bad row: until then its nearest parent
  // that exists is tried.
  std::string there = CleanPath(quarantine_dir);
  while (absl::IsNotFound(files.OpenForRead(there).status())) {
    there = std::string(Dirname(there));
  }
  const std::string probe = JoinPath(there, absl::StrCat(".worker-", worker));
  absl::Status writable = files.Create(probe).status();
  if (writable.ok()) writable = files.Remove(probe);
  return Annotate(writable, "--quarantine_dir");
}

}  // namespace

const ScoreMetrics& MetricsOf(const JobPlan& plan) {
  if (plan.unmeasured != nullptr) return *plan.unmeasured;
  return FindModel(plan.model.model)->objective->metrics();
}

absl::StatusOr<JobPlan> PlanJob(const JobFlags& flags) {
  JobPlanOptions options;
  options.job = flags.cluster.job;
  options.config = flags.CanonicalConfig();
  options.model = ModelOptionsFromFlags(flags);
  options.canary = flags.training.canary;
  options.partition.table_kind = PartitionKindFromFlags(flags);
  options.ps = flags.HasServers() ? flags.cluster.ps : 0;
  options.replicas = flags.HasCopies() ? flags.cluster.workers : 0;
  options.replays = flags.compute.Replays();
  return MakeJobPlan(std::move(options));
}

LoggerOptions LoggerOptionsFromFlags(const JobFlags& flags, std::string name) {
  LoggerOptions options;
  options.name = std::move(name);
  options.level = flags.output.log_level;
  options.terminal = flags.output.terminal;
  options.full_time = flags.output.FullTime();
  return options;
}

CoordinatorOptions CoordinatorOptionsFromFlags(const JobFlags& flags,
                                               const JobPlan& plan) {
  CoordinatorOptions options;
  options.job = plan.job;
  options.config = plan.config;
  if (flags.command == Command::kPs || flags.command == Command::kWorker) {
    options.process = ProcessName(
        flags.command == Command::kPs ? Role::kPs : Role::kWorker,
        flags.cluster.task_index);
  }
  options.ps = plan.ps;
  if (!flags.cluster.ps_hosts.empty()) {
    options.ps_addresses = absl::StrSplit(flags.cluster.ps_hosts, ',');
  }
  options.num_workers = flags.cluster.workers;
  options.batch_size = static_cast<uint32_t>(flags.training.batch_size);
  options.num_epochs = static_cast<uint32_t>(flags.training.num_epochs);
  options.seed = flags.model.seed;
  options.shuffle = flags.data.shuffle;
  options.piece_bytes = flags.data.piece_bytes;
  options.scopes.train_by_host =
      flags.training.Trains() &&
      flags.data.data_scope == DataFlags::Scope::kHost;
  options.scopes.eval_by_host =
      flags.data.val_data_scope == DataFlags::Scope::kHost;
  options.warmup_steps = flags.training.warmup_steps;
  options.max_bad_rows = flags.data.max_bad_rows;
  options.auc_exact_rows = flags.data.auc_exact_rows;
  options.metrics = &MetricsOf(plan);
  options.eval_every_epochs =
      static_cast<uint32_t>(flags.evaluation.eval_every_epochs);
  options.task = flags.training.task_type;
  options.heartbeat_interval = flags.deadlines.heartbeat;
  options.silent_after = flags.deadlines.silent_after;
  options.worker_lease = flags.deadlines.worker_lease;
  options.start_deadline = flags.deadlines.start_timeout;
  options.worker_grace = flags.deadlines.worker_grace;
  options.speculate_after = flags.deadlines.speculate_after;
  options.progress_deadline = flags.deadlines.progress_timeout;
  options.stall_after = flags.deadlines.stall_after;
  options.linger = flags.deadlines.linger;
  return options;
}

PsLoopOptions PsLoopOptionsFromFlags(const JobFlags& flags) {
  PsLoopOptions options;
  options.member = MemberOptions(flags);
  options.shard.max_bytes = flags.limits.max_ps_bytes;
  options.ps_lease = flags.deadlines.ps_lease;
  options.mark_interval = flags.deadlines.mark_interval;
  options.checkpoints.model_dir = flags.checkpoints.model_dir;
  options.checkpoints.keep_checkpoints = flags.checkpoints.keep_checkpoints;
  options.checkpoints.weights_only = !flags.training.Trains();
  options.checkpoints.unseen = flags.evaluation.unseen;
  return options;
}

WorkerLoopOptions WorkerLoopOptionsFromFlags(const JobFlags& flags) {
  WorkerLoopOptions options;
  options.member = MemberOptions(flags);
  options.trainer.pipeline_depth = flags.PipelineDepth();
  // A score and its label take five bytes.
  options.trainer.scores.max_scores = std::min<uint64_t>(
      options.trainer.scores.max_scores,
      (static_cast<uint64_t>(flags.limits.max_message_bytes) -
       kMessageOverhead) /
          5);
  options.trainer.clip_norm = flags.optimizers.clip_norm;
  // The worker's part of the steps of the job.
  const int64_t workers = std::max(flags.cluster.workers, 1);
  options.warmup_steps = static_cast<uint64_t>(
      (flags.training.warmup_steps + workers - 1) / workers);
  options.pull_timeout = flags.deadlines.pull_timeout;
  options.push_timeout = flags.deadlines.push_timeout;
  if (KindOf(flags.training.mode).steps) {
    options.push_timeout *= kPushTimeoutsOfStep;
  }
  return options;
}

AllReduceSettings AllReduceSettingsFromFlags(const JobFlags& flags) {
  AllReduceSettings ring;
  ring.reduction = flags.modes.reduction;
  ring.bucket_bytes = static_cast<uint64_t>(flags.modes.bucket_bytes);
  return ring;
}

RpcServerOptions RpcServerOptionsFromFlags(const JobFlags& flags) {
  RpcServerOptions options;
  options.SetMaxMessageBytes(
      static_cast<uint64_t>(flags.limits.max_message_bytes));
  // A large push is sent in chunks, and a large pull in parts.
  const auto calls_of_batch =
      static_cast<uint64_t>(ParameterClientOptions().chunks_in_flight);
  options.SetCallsOfJob(
      flags.cluster.workers,
      WorkerLoopOptionsFromFlags(flags).trainer.batches_in_flight() *
          calls_of_batch,
      flags.PsMembers());
  const Keepalive keepalive = KeepaliveFor(flags.deadlines.silent_after);
  options.keepalive_time = keepalive.time;
  options.keepalive_timeout = keepalive.timeout;
  return options;
}

absl::StatusOr<std::unique_ptr<Quarantine>> QuarantineFromFlags(
    const JobFlags& flags, const FileSystem* file_system, int worker,
    Logger* logger) {
  QuarantineOptions options;
  options.directory = flags.QuarantineDir();
  if (options.directory.empty()) return std::unique_ptr<Quarantine>();
  if (!flags.data.quarantine_dir.empty()) {
    SHOAL_RETURN_IF_ERROR(
        CheckWritable(*file_system, flags.data.quarantine_dir, worker));
  } else {
    options.on_failure = [logger](const absl::Status& why) {
      logger->Warn(
          absl::StrCat("bad rows are counted and not written: ", why.message(),
                       "; give --quarantine_dir to write them elsewhere"));
    };
  }
  options.name = absl::StrCat("worker-", worker);
  // The row that exceeds --max_bad_rows is written too.
  if (flags.data.max_bad_rows >= 0) {
    options.max_rows = std::min(
        options.max_rows, static_cast<uint64_t>(flags.data.max_bad_rows) + 1);
  }
  return std::make_unique<Quarantine>(file_system, std::move(options));
}

PieceReaderOptions PieceReaderOptionsFromFlags(const JobFlags& flags,
                                               Quarantine* quarantine,
                                               LineNumbers* line_numbers) {
  PieceReaderOptions options;
  options.format = flags.data.data_format;
  options.parse_threads = flags.data.parse_threads;
  options.quarantine = quarantine;
  options.line_numbers = line_numbers;
  options.feature_size = flags.model.feature_size;
  options.field_size = flags.model.field_size;
  options.seed = flags.model.seed;
  options.shuffle = flags.data.shuffle;
  options.shuffle_rows = static_cast<uint32_t>(flags.data.shuffle_rows);
  return options;
}

absl::StatusOr<std::unique_ptr<PredictionsFile>> PredictionsFileFromFlags(
    const JobFlags& flags, const JobPlan& plan, const FileSystem* files) {
  if (!flags.training.Infers()) return std::unique_ptr<PredictionsFile>();
  const auto path = OutputPath(flags.PredictionsFile());
  SHOAL_RETURN_IF_ERROR(Annotate(path.status(), "--predictions_file"));
  auto file = PredictionsFile::Create(
      files, *path, flags.evaluation.predictions_format, &MetricsOf(plan));
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
