#include "launch/job_flags.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "launch/flag_value.h"
#include "launch/job_flag_set.h"

namespace shoal {
namespace {

const TrainingModeRow& RowOf(TrainingMode mode) {
  for (const TrainingModeRow& row : kTrainingModes) {
    if (row.value == mode) return row;
  }
  SHOAL_DCHECK(false);  // every mode has a row
  return kTrainingModes[0];
}

}  // namespace

JobFlags::JobFlags(Command command) : command(command) {
  if (command == Command::kRun) {
    cluster.ps = 2;
    cluster.workers = 2;
  }
  if (command == Command::kEval) training.task_type = JobTask::kEvaluate;
  if (command == Command::kInfer) training.task_type = JobTask::kInfer;
}

absl::Status JobFlags::Validate() {
  SHOAL_RETURN_IF_ERROR(model.Validate());
  SHOAL_RETURN_IF_ERROR(training.Validate(command));
  SHOAL_RETURN_IF_ERROR(optimizers.Validate(*this));
  SHOAL_RETURN_IF_ERROR(cluster.CountHosts(command, HasServers()));
  SHOAL_RETURN_IF_ERROR(modes.Validate(*this));
  SHOAL_RETURN_IF_ERROR(compute.Validate(*this));
  SHOAL_RETURN_IF_ERROR(cluster.Validate(*this));
  SHOAL_RETURN_IF_ERROR(monitoring.Validate(*this));
  SHOAL_RETURN_IF_ERROR(data.Validate(*this));
  SHOAL_RETURN_IF_ERROR(evaluation.Validate(*this));
  SHOAL_RETURN_IF_ERROR(checkpoints.Validate(*this));
  return deadlines.Validate();
}

JobFlags JobFlags::Resolved() const {
  JobFlags all = *this;
  all.model.keep_prob = model.KeepProb();
  all.optimizers = optimizers.Resolved();
  all.training.pipeline_depth = PipelineDepth();
  all.cluster.partition = Partition();
  return all;
}

std::string JobFlags::CanonicalConfig() const {
  JobFlags resolved = Resolved();
  const JobFlagRows rows = AllJobFlagRows(&resolved);
  JobFlags defaults(command);
  const JobFlagRows default_rows = AllJobFlagRows(&defaults);
  std::vector<std::string> lines;
  for (size_t i = 0; i < rows.rows().size(); ++i) {
    const JobFlagRow& row = rows.rows()[i];
    if (row.canonical == Canonical::kNo) continue;
    // The limits are left out: with them bytes would be written as MiB.
    const std::string value = PrintFlagValue(row.flag.target);
    if (row.canonical == Canonical::kInCheckpointIfSet &&
        value == PrintFlagValue(default_rows.rows()[i].flag.target)) {
      continue;
    }
    lines.push_back(absl::StrCat(row.flag.name, "=", value));
  }
  std::sort(lines.begin(), lines.end());
  return absl::StrCat(absl::StrJoin(lines, "\n"), "\n");
}

std::vector<std::string> JobFlags::MayDifferOnResume() const {
  JobFlags any = *this;  // rows are bound to flags that are not const
  const JobFlagRows rows = AllJobFlagRows(&any);
  std::vector<std::string> names;
  for (const JobFlagRow& row : rows.rows()) {
    if (row.canonical == Canonical::kInJob) names.push_back(row.flag.name);
  }
  return names;
}

std::string JobFlags::TaskText() const {
  if (OnlyScores(command)) return CommandName(command);
  return absl::StrCat("--task_type=", training.TaskName());
}

std::string JobFlags::QuarantineDir() const {
  if (!data.quarantine_dir.empty() || checkpoints.model_dir.empty() ||
      OnlyScores(command)) {
    return data.quarantine_dir;
  }
  return absl::StrCat(checkpoints.model_dir, "/bad_rows");
}

std::string JobFlags::PredictionsFile() const {
  if (!evaluation.predictions_file.empty() || checkpoints.model_dir.empty() ||
      OnlyScores(command)) {
    return evaluation.predictions_file;
  }
  return absl::StrCat(
      checkpoints.model_dir, "/predictions.",
      evaluation.predictions_format == PredictionsFormat::kBinary ? "f32"
                                                                  : "txt");
}

int JobFlags::PipelineDepth() const {
  if (training.pipeline_depth >= 0) return training.pipeline_depth;
  const TrainingModeRow& mode = RowOf(training.mode);
  return IsOneProcess(command) ? mode.depth_in_one_process
                               : mode.depth_over_network;
}

bool JobFlags::HasServers() const { return RowOf(training.mode).servers; }

bool JobFlags::HasCopies() const { return RowOf(training.mode).copies; }

bool JobFlags::Leads() const {
  if (command == Command::kPs) return cluster.task_index == 0;
  if (command != Command::kWorker) return true;
  return !HasServers() && cluster.task_index == 0;
}

std::string JobFlags::CoordinatorAddress() const {
  if (!HasServers() && !cluster.coordinator.empty()) return cluster.coordinator;
  const std::string& hosts =
      HasServers() ? cluster.ps_hosts : cluster.worker_hosts;
  return std::string(absl::StripAsciiWhitespace(
      absl::string_view(hosts).substr(0, hosts.find(','))));
}

int JobFlags::MetricsPort() const {
  const auto& launched = cluster.launched;
  return launched.has_value() && launched->local_rank.has_value()
             ? monitoring.metrics_port + launched->local_rank->value
             : monitoring.metrics_port;
}

PartitionKind JobFlags::Partition() const {
  if (cluster.partition.has_value()) return *cluster.partition;
  return model.feature_size == 0 ? PartitionKind::kHash
                                 : PartitionKind::kFixedSize;
}

}  // namespace shoal
