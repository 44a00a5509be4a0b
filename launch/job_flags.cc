#include "launch/job_flags.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "launch/flag_value.h"
#include "launch/host_list.h"
#include "launch/job_flag_set.h"
#include "launch/ssh_command.h"

namespace shoal {
namespace {

absl::Status CheckHosts(JobFlags* flags) {
  SHOAL_ASSIGN_OR_RETURN(
      const std::vector<std::string> ps,
      ParseHostList("ps_hosts", flags->ps_hosts, /*need_ports=*/true));
  flags->ps = static_cast<int>(ps.size());
  if (!flags->worker_hosts.empty()) {
    SHOAL_ASSIGN_OR_RETURN(const std::vector<std::string> workers,
                           ParseHostList("worker_hosts", flags->worker_hosts,
                                         /*need_ports=*/false));
    flags->workers = static_cast<int>(workers.size());
  }
  const bool is_ps = flags->command == Command::kPs;
  if (!is_ps && flags->worker_hosts.empty()) return absl::OkStatus();
  const int processes = is_ps ? flags->ps : flags->workers;
  if (flags->task_index >= processes) {
    return absl::InvalidArgumentError(
        absl::StrCat("--task_index=", flags->task_index, ": --",
                     is_ps ? "ps_hosts" : "worker_hosts", " has ", processes,
                     " entries, so it must be in [0, ", processes - 1, "]"));
  }
  return absl::OkStatus();
}

absl::Status CheckCheckpoints(const JobFlags& flags) {
  if (!flags.model_dir.empty()) return absl::OkStatus();
  if (flags.save_checkpoint_steps > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--save_checkpoint_steps=", flags.save_checkpoint_steps,
                     ": give --model_dir too, where checkpoints are kept"));
  }
  if (flags.resume == "must") {
    return absl::InvalidArgumentError(
        "--resume=must: give --model_dir too, where the checkpoint is");
  }
  return absl::OkStatus();
}

// What a task reads and writes.
absl::Status CheckTask(const JobFlags& flags) {
  const bool is_ps = flags.command == Command::kPs;
  if (flags.task_type == "train") {
    if (!flags.training_data_dir.empty() || is_ps) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "--training_data_dir is missing: there is nothing to train on without "
        "it");
  }
  if (flags.val_data_dir.empty() && !is_ps) {
    return absl::InvalidArgumentError(
        absl::StrCat("--task_type=", flags.task_type,
                     " reads --val_data_dir, which is missing"));
  }
  // The process with the coordinator writes them.
  const bool writes =
      is_ps ? flags.task_index == 0 : flags.command != Command::kWorker;
  if (flags.task_type == "infer" && flags.PredictionsFile().empty() && writes) {
    return absl::InvalidArgumentError(
        "--task_type=infer needs --predictions_file or --model_dir, to know "
        "where to write");
  }
  if (flags.model_dir.empty() && flags.resume != "never") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--task_type=", flags.task_type,
        " takes the model of a checkpoint: give its --model_dir, or "
        "--resume=never for the initial weights"));
  }
  return absl::OkStatus();
}

// A table is an array with a feature_size, and dynamic without.
absl::Status CheckTables(const JobFlags& flags) {
  const bool dynamic = flags.feature_size == 0;
  if (dynamic != (flags.Partition() == "hash")) {
    return absl::InvalidArgumentError(
        dynamic ? absl::StrCat("--partition=", flags.partition,
                               " cuts tables of a known size: give "
                               "--feature_size too, or leave it to hash")
                : absl::StrCat("--partition=hash with --feature_size=",
                               flags.feature_size,
                               ": hash places dynamic tables; leave one of "
                               "the two out"));
  }
  if (!dynamic && flags.table_row_limit != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--table_row_limit=", flags.table_row_limit,
        " with --feature_size=", flags.feature_size,
        ": a table that is as long as --feature_size needs no limit; leave one "
        "of the two out"));
  }
  if (flags.table_full == "share" && flags.table_row_limit == 0) {
    return absl::InvalidArgumentError(
        "--table_full=share: without --table_row_limit no table is ever full");
  }
  return absl::OkStatus();
}

absl::Status CheckMetricsPorts(const JobFlags& flags) {
  if (flags.metrics_port == 0 || flags.command != Command::kRun) {
    return absl::OkStatus();
  }
  const int more = flags.hosts.empty() ? flags.ps + flags.workers - 1 : 1;
  if (flags.metrics_port + more <= 65535) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--metrics_port=", flags.metrics_port, ": the processes take ", more + 1,
      " ports from it on, and 65535 is the last; give a smaller one"));
}

absl::Status CheckDeadlines(const JobFlags& flags) {
  // One late heartbeat must not look like a death.
  if (flags.silent_after < 2 * flags.heartbeat) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--silent_after=", absl::FormatDuration(flags.silent_after),
        " must be at least twice --heartbeat=",
        absl::FormatDuration(flags.heartbeat)));
  }
  if (flags.worker_lease < 2 * flags.heartbeat) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--worker_lease=", absl::FormatDuration(flags.worker_lease),
        " must be at least twice --heartbeat=",
        absl::FormatDuration(flags.heartbeat), ", which renews it"));
  }
  // A PS must have stopped serving when the coordinator takes it for dead.
  if (flags.ps_lease > flags.silent_after ||
      flags.ps_lease < 2 * flags.heartbeat) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--ps_lease=", absl::FormatDuration(flags.ps_lease),
        " must be at least twice --heartbeat=",
        absl::FormatDuration(flags.heartbeat), " and at most --silent_after=",
        absl::FormatDuration(flags.silent_after)));
  }
  return absl::OkStatus();
}

}  // namespace

JobFlags::JobFlags(Command command) : command(command) {
  if (command == Command::kRun) {
    ps = 2;
    workers = 2;
  }
}

absl::Status JobFlags::Validate() {
  if (batch_norm) {
    return absl::InvalidArgumentError(
        "--batch_norm=true is not there yet: moving averages need an update "
        "of their own on the parameter servers");
  }
  if (!dropout.empty() && dropout.size() != deep_layers.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--dropout=", absl::StrJoin(dropout, ","), " has ", dropout.size(),
        " entries and --deep_layers=", absl::StrJoin(deep_layers, ","), " has ",
        deep_layers.size(), "; give one a layer"));
  }
  if (l2_scope == "table" && (command != Command::kTrain || workers != 1)) {
    return absl::InvalidArgumentError(
        "--l2_scope=table moves every row of a table at every push, which is "
        "for shoal train with --workers=1 alone; leave it at touched");
  }
  if (clip_norm > 0 && model == "linear_probe") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--clip_norm=", clip_norm,
        ": linear_probe takes none, since its arithmetic has to be exact"));
  }
  if (command == Command::kPs || command == Command::kWorker) {
    SHOAL_RETURN_IF_ERROR(CheckHosts(this));
  }
  if (command == Command::kRun && !hosts.empty()) {
    SHOAL_ASSIGN_OR_RETURN(const std::vector<RemoteHost> remote,
                           ParseRemoteHosts(hosts));
    ps = static_cast<int>(remote.size());
    workers = ps;
  }
  SHOAL_RETURN_IF_ERROR(CheckMetricsPorts(*this));
  if (!listen.empty()) {
    SHOAL_RETURN_IF_ERROR(
        ParseHostList("listen", listen, /*need_ports=*/true).status());
  }
  SHOAL_RETURN_IF_ERROR(CheckTables(*this));
  SHOAL_RETURN_IF_ERROR(CheckCheckpoints(*this));
  if (table_full == "share" && model == "linear_probe") {
    return absl::InvalidArgumentError(
        "--table_full=share: linear_probe takes none, since which ids share a "
        "row depends on who comes first");
  }
  SHOAL_RETURN_IF_ERROR(CheckTask(*this));
  return CheckDeadlines(*this);
}

JobFlags JobFlags::Resolved() const {
  JobFlags all = *this;
  all.table_optimizer = TableOptimizer();
  all.table_learning_rate = TableLearningRate();
  all.wide_optimizer = WideOptimizer();
  all.wide_learning_rate = WideLearningRate();
  all.table_warmup_batches = TableWarmupBatches();
  all.wide_l2_reg = WideL2();
  all.pipeline_depth = PipelineDepth();
  all.partition = Partition();
  return all;
}

std::string JobFlags::CanonicalConfig() const {
  JobFlags resolved = Resolved();
  const JobFlagRows rows = AllJobFlagRows(&resolved);
  std::vector<std::string> lines;
  for (const JobFlagRow& row : rows.rows()) {
    if (row.canonical == Canonical::kNo) continue;
    // Without limits, which would write bytes as MiB.
    lines.push_back(
        absl::StrCat(row.flag.name, "=", PrintFlagValue(row.flag.target)));
  }
  std::sort(lines.begin(), lines.end());
  return absl::StrCat(absl::StrJoin(lines, "\n"), "\n");
}

std::string JobFlags::QuarantineDir() const {
  if (!quarantine_dir.empty() || model_dir.empty()) return quarantine_dir;
  return absl::StrCat(model_dir, "/bad_rows");
}

std::string JobFlags::PredictionsFile() const {
  if (!predictions_file.empty() || model_dir.empty()) return predictions_file;
  return absl::StrCat(model_dir, "/predictions.",
                      predictions_format == "binary" ? "f32" : "txt");
}

int JobFlags::PipelineDepth() const {
  if (pipeline_depth >= 0) return pipeline_depth;
  return command == Command::kTrain ? 0 : 1;
}

std::string JobFlags::Partition() const {
  if (!partition.empty()) return partition;
  return feature_size == 0 ? "hash" : "fixed_size";
}

const std::string& JobFlags::TableOptimizer() const {
  return table_optimizer.empty() ? optimizer : table_optimizer;
}

double JobFlags::TableLearningRate() const {
  return table_learning_rate > 0 ? table_learning_rate : learning_rate;
}

const std::string& JobFlags::WideOptimizer() const {
  return wide_optimizer.empty() ? TableOptimizer() : wide_optimizer;
}

int64_t JobFlags::TableWarmupBatches() const {
  return table_warmup_batches >= 0 ? table_warmup_batches : warmup_batches;
}

double JobFlags::WideL2() const {
  return wide_l2_reg >= 0 ? wide_l2_reg : l2_reg;
}

double JobFlags::WideLearningRate() const {
  return wide_learning_rate > 0 ? wide_learning_rate : TableLearningRate();
}

}  // namespace shoal
