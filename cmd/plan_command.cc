// shoal plan: predicts the speed of a job on a cluster, by mode of training and
// number of hosts.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/file_system.h"
#include "base/output_path.h"
#include "base/status_macros.h"
#include "cmd/own_terminal.h"
#include "cmd/parse_command_line.h"
#include "cmd/plan_map.h"
#include "cmd/plan_measurements.h"
#include "cmd/subcommand.h"
#include "job/exit_code.h"
#include "job/job_plan.h"
#include "job/main_wait.h"
#include "job/options_from_flags.h"
#include "job/variable_sizes.h"
#include "launch/job_flag_set.h"
#include "launch/split_arguments.h"
#include "models/model_table.h"
#include "plan/calibration.h"
#include "plan/cluster_description.h"
#include "plan/mode_shape.h"
#include "plan/plan_text.h"
#include "plan/step_demand.h"

namespace shoal {
namespace {

struct PlanFlags {
  std::string cluster;
  std::string modes;
  int worker_per_host = 1;
  double price = 0;
  bool as_json = false;
  MeasurementFlags measurements;
  std::string map;
};

FlagSet PlanFlagSet(PlanFlags* flags) {
  FlagSet set("shoal plan",
              "Predicts how fast a job trains on a cluster, for each mode of "
              "training and number of hosts, from what was measured on one or "
              "two hosts (docs/planning.md). It predicts speed, never AUC. "
              "Beside the flags below it takes those of shoal train, which "
              "describe the job: without them the job is the one that was "
              "measured. With --measure they describe the whole job.");
  set.Group("Plan");
  set.Add({"cluster",
           &flags->cluster,
           "The cluster, as in hosts=32,cores=8,network=10gbit, and also "
           "latency=60us and memory=64GiB. hosts and network must be there; "
           "the network is what a host's link passes each way.",
           {},
           "it is what the plan is for, as in "
           "--cluster=hosts=32,cores=8,network=10gbit"});
  set.Add({"modes", &flags->modes,
           "Modes of training to compare, separated by commas. Empty: all."});
  set.Add({"worker_per_host", &flags->worker_per_host,
           "Number of workers on each host.", IntRange{1, 64}});
  set.Add({"price", &flags->price,
           "Price of a host for an hour, in any currency; the plan then shows "
           "the cost of 10^9 samples. 0: costs are not shown.",
           RealRange{0}});
  set.Add({"json", &flags->as_json, "Print one JSON object instead of text."});
  set.Add(
      {"map", &flags->map,
       "File for a map of the fastest mode by hosts and bandwidth, as SVG."});
  AddMeasurementFlags(&flags->measurements, &set);
  return set;
}

absl::StatusOr<std::vector<const ModeShape*>> ModesOf(
    const std::string& names) {
  std::vector<const ModeShape*> modes;
  if (names.empty()) {
    for (const ModeShape& mode : ModeShapes()) modes.push_back(&mode);
    return modes;
  }
  for (const absl::string_view name : absl::StrSplit(names, ',')) {
    const ModeShape* const mode = FindModeShape(name);
    if (mode == nullptr) {
      std::vector<std::string> all;
      for (const ModeShape& shape : ModeShapes()) all.push_back(shape.name);
      return absl::InvalidArgumentError(
          absl::StrCat("--modes=", names, ": there is no mode '", name,
                       "'; the modes are ", absl::StrJoin(all, ", ")));
    }
    if (absl::c_linear_search(modes, mode)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--modes=", names, ": '", name, "' is given twice"));
    }
    modes.push_back(mode);
  }
  return modes;
}

// Flags of a job that a plan has in another way, and what to give.
absl::Status CheckJobFlags(const JobFlags& flags, const FlagSet& set) {
  if (set.given("mode")) {
    return absl::InvalidArgumentError(
        "--mode is not for a plan, which is of several modes: give --modes");
  }
  if (set.given("workers")) {
    return absl::InvalidArgumentError(
        "--workers is not for a plan: give --worker_per_host, and the hosts in "
        "--cluster");
  }
  if (flags.modes.reduction == Reduction::kRankOrder) {
    return absl::InvalidArgumentError(
        "--reduction=rank_order: the planner knows --reduction=fast alone");
  }
  return absl::OkStatus();
}

// The flags that decide the sizes of the variables and what is computed.
bool GivesModel(const FlagSet& set) {
  for (const char* const name :
       {"model", "feature_size", "field_size", "embedding_size", "deep_layers",
        "first_layer", "optimizer", "table_optimizer"}) {
    if (set.given(name)) return true;
  }
  return false;
}

// PlannedJob::sample_ratio of the job. `work` is that of its model.
absl::StatusOr<double> RatioOf(const Measurements& measurements,
                               const PlannedJob& job, const SampleWork& work) {
  const Calibration& calibration = measurements.calibration;
  if (measurements.sample_seconds > 0) {
    return measurements.sample_seconds / calibration.costs.sample;
  }
  const double ratio = SampleRatio(calibration, work, job.batch_size);
  if (ratio > 0) return ratio;
  if (calibration.work.plain > 0) {
    return absl::InvalidArgumentError(
        "--model: a model without deep layers cannot be planned from what was "
        "measured of one that has some; give --measure too, which measures the "
        "cost of a sample of the planned model");
  }
  if (job.dense_bytes == calibration.dense_bytes &&
      job.row_floats == calibration.row_floats) {
    return 1;
  }
  return absl::InvalidArgumentError(
      "what was measured does not say how much its model computes (it is a "
      "file of an older version, or a model without deep layers), so only that "
      "model can be planned from it alone; give --measure too, which measures "
      "the cost of a sample of the planned model");
}

// The measured job, changed by the flags that are given.
absl::StatusOr<PlannedJob> JobOf(const PlanFlags& plan,
                                 const Measurements& measurements,
                                 const JobFlags& flags, const FlagSet& set) {
  const Calibration& calibration = measurements.calibration;
  PlannedJob job = MeasuredJob(calibration);
  job.workers_per_host = plan.worker_per_host;
  const bool measured = measurements.sample_seconds > 0;
  if (measured || set.given("batch_size")) {
    job.batch_size = flags.training.batch_size;
  }
  if (set.given("ssp_bound")) job.ssp_bound = flags.modes.ssp_bound;
  if (set.given("pipeline_depth")) {
    job.pipeline_depth = flags.training.pipeline_depth;
  }
  if (set.given("bucket_bytes")) {
    job.bucket_bytes = static_cast<double>(flags.modes.bucket_bytes);
  }
  SampleWork work = calibration.work;
  if (measured || GivesModel(set)) {
    SHOAL_ASSIGN_OR_RETURN(const JobPlan job_plan, PlanJob(flags));
    const VariableSizes sizes = SizesOf(job_plan.spec);
    job.dense_bytes = static_cast<double>(sizes.dense_bytes);
    job.row_floats = static_cast<double>(sizes.row_bytes) / 4;
    job.table_bytes = static_cast<double>(sizes.table_bytes);
    work = FindModel(job_plan.model.model)->work(job_plan.model);
  }
  SHOAL_ASSIGN_OR_RETURN(job.sample_ratio, RatioOf(measurements, job, work));
  return job;
}

// Reads the flags of the job. Measuring trains, so the job must be whole;
// otherwise flags that describe it are enough. A plan is of all modes, so
// settings of single ones go together.
std::optional<ExitCode> ParseJob(const PlanFlags& plan, const Args& args,
                                 JobFlags* flags, FlagSet* set) {
  if (plan.measurements.measure) {
    ModeFlags modes;
    const auto exit = ParseJobOrExit(flags, set, args, [&] {
      modes = std::exchange(flags->modes, ModeFlags());
      return absl::OkStatus();
    });
    if (exit.has_value()) return exit;
    flags->modes = modes;
    const absl::Status checked = CheckJobFlags(*flags, *set);
    if (checked.ok()) return std::nullopt;
    return Complain("shoal plan", checked, kExitUsage);
  }
  absl::Status read = set->ReadArguments(args);
  if (read.ok()) read = CheckJobFlags(*flags, *set);
  if (read.ok() && (GivesModel(*set) || set->given("training_data_dir"))) {
    if (flags->data.training_data_dir.empty()) {
      flags->data.training_data_dir = "not read";
    }
    const ModeFlags modes = std::exchange(flags->modes, ModeFlags());
    read = flags->Validate();
    flags->modes = modes;
    if (!read.ok() && GivesModel(*set)) {
      read = Annotate(read,
                      "flags of a model describe all of it, also where the "
                      "measured one is the same, so give the others too");
    }
  }
  if (read.ok()) return std::nullopt;
  return Complain("shoal plan", read, kExitUsage);
}

// The files that the plan will write.
absl::Status CheckOutputFiles(const PlanFlags& plan) {
  for (const auto& [flag, path] :
       {std::pair<const char*, const std::string&>("--map=", plan.map),
        {"--calibration_out=", plan.measurements.calibration_out}}) {
    if (path.empty()) continue;
    SHOAL_RETURN_IF_ERROR(
        Annotate(CheckOutputPath(path), absl::StrCat(flag, path)));
  }
  return absl::OkStatus();
}

}  // namespace

int PlanCommand(const Args& args) {
  MainWait wait;
  PlanFlags plan;
  FlagSet set = PlanFlagSet(&plan);
  const SplitArguments split = SplitByFlagSet(set, args);
  if (const auto exit = ParseOrExit(&set, split.own)) return *exit;
  const auto usage = [&set](const absl::Status& status) {
    return Complain(set.command(), status, kExitUsage);
  };
  PlanRequest request;
  const auto cluster = ParseCluster(plan.cluster);
  if (!cluster.ok()) return usage(cluster.status());
  const auto modes = ModesOf(plan.modes);
  if (!modes.ok()) return usage(modes.status());
  const absl::Status sources = CheckMeasurementFlags(plan.measurements, set);
  if (!sources.ok()) return usage(sources);
  const absl::Status outputs = CheckOutputFiles(plan);
  if (!outputs.ok()) return usage(outputs);
  JobFlags flags(Command::kTrain);
  FlagSet job_set = JobFlagSet(&flags);
  if (const auto exit = ParseJob(plan, split.job, &flags, &job_set)) {
    return *exit;
  }
  const std::unique_ptr<FileSystem> files = NewPosixFileSystem();
  auto measurements =
      FindMeasurements(plan.measurements, *files, flags, job_set, &wait);
  if (absl::IsCancelled(measurements.status())) {
    return Complain(set.command(), measurements.status(), kExitStopped);
  }
  if (!measurements.ok()) {
    return Complain(set.command(), measurements.status());
  }
  const auto job = JobOf(plan, *measurements, flags, job_set);
  if (!job.ok()) return usage(job.status());
  request.calibration = std::move(measurements->calibration);
  request.job = *job;
  request.cluster = *cluster;
  request.modes = *modes;
  request.hosts = HostsToPlan(cluster->hosts);
  request.price_per_host_hour = plan.price;
  if (!plan.map.empty()) {
    const absl::Status written =
        WriteOutput(*files, plan.map, DrawPlanMap(request));
    if (!written.ok()) return Complain(set.command(), written);
  }
  return PrintResult(set.command(),
                     plan.as_json ? PlanJson(request) : PlanText(request));
}

}  // namespace shoal
