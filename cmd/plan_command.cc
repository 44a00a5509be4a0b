// shoal plan: predicts the speed of a job on a cluster, by mode of training and
// number of hosts.

#include <string.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "base/file_system.h"
#include "base/output_path.h"
#include "base/status_macros.h"
#include "bench/calibrate/comparison_calibration.h"
#include "bench/calibrate/measure_job.h"
#include "bench/compare/comparison_json.h"
#include "bench/compare/text_file.h"
#include "cmd/own_terminal.h"
#include "cmd/parse_command_line.h"
#include "cmd/plan_map.h"
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
  std::string calibration;
  std::string compare;
  std::string compare_model;
  bool measure = false;
  absl::Duration measure_time = absl::Seconds(10);
  std::string calibration_out;
  std::string map;
};

FlagSet PlanFlagSet(PlanFlags* flags) {
  FlagSet set("shoal plan",
              "Predicts how fast a job trains on a cluster, for each mode of "
              "training and number of hosts, from what was measured on one or "
              "two hosts (docs/planning.md). It predicts speed, never AUC. "
              "Beside the flags below it takes those of shoal train, which "
              "describe the job: without them the job is the one that was "
              "measured.");
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
  set.Group("Measurements");
  set.Add({"calibration", &flags->calibration,
           "File of measurements that --calibration_out wrote."});
  set.Add({"compare", &flags->compare,
           "File compare.json of shoal bench compare, whose cells of 1 and 2 "
           "hosts are the measurements."});
  set.Add({"compare_model", &flags->compare_model,
           "Name of the model in --compare, if it has several."});
  set.Add({"measure", &flags->measure,
           "Measure now: train with the job's flags in one process and count "
           "the distinct ids of the data. Costs of the network are then those "
           "of another machine, and the plan says so."});
  set.Add({"measure_time", &flags->measure_time, "Time that --measure trains.",
           DurationRange{absl::Seconds(1), absl::Hours(1)}});
  set.Add({"calibration_out", &flags->calibration_out,
           "File for the measurements, to plan with them again."});
  return set;
}

// Where the measurements come from is given once.
absl::Status CheckSources(const PlanFlags& flags, const FlagSet& set) {
  const int given = (flags.calibration.empty() ? 0 : 1) +
                    (flags.compare.empty() ? 0 : 1) + (flags.measure ? 1 : 0);
  if (set.given("compare_model") && flags.compare.empty()) {
    return absl::InvalidArgumentError(
        "--compare_model names a model of --compare, which is not given");
  }
  if (set.given("measure_time") && !flags.measure) {
    return absl::InvalidArgumentError(
        "--measure_time is for --measure, which is not given");
  }
  if (given == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      given == 0 ? "no measurements are given" : "measurements are given twice",
      ": give one of --measure (train for 10 s now), --compare=compare.json "
      "(of shoal bench compare) and --calibration=FILE (of "
      "--calibration_out)"));
}

absl::StatusOr<Calibration> Measure(const PlanFlags& flags,
                                    const FileSystem& files,
                                    const JobFlags& job,
                                    const FlagSet& job_set, MainWait* wait) {
  MeasureOptions options;
  options.span = flags.measure_time;
  // Until there is something that needs an end in good order, a signal ends
  // the process.
  bool begun = false;
  auto measured = MeasureJob(files, job, job_set, options, [&begun, wait] {
    if (!begun) wait->Begin();
    begun = true;
    const MainWait::Event event = wait->Wait(absl::ZeroDuration());
    return event.action == StopSignals::Action::kNone
               ? absl::OkStatus()
               : absl::CancelledError(absl::StrCat(
                     "stopped by SIG", sigabbrev_np(event.signal)));
  });
  if (begun) wait->QuitOnInterrupt();
  return measured;
}

absl::StatusOr<Calibration> ReadCalibration(const PlanFlags& flags,
                                            const FileSystem& files) {
  if (!flags.compare.empty()) {
    SHOAL_ASSIGN_OR_RETURN(const Comparison comparison,
                           ReadComparison(files, flags.compare));
    auto found = CalibrationOf(comparison, {.model = flags.compare_model});
    if (!found.ok()) return Annotate(found.status(), flags.compare);
    return found;
  }
  SHOAL_ASSIGN_OR_RETURN(const std::string text,
                         ReadTextFile(files, flags.calibration));
  auto read = CalibrationFromJson(text);
  if (!read.ok()) return Annotate(read.status(), flags.calibration);
  return read;
}

absl::StatusOr<Calibration> FindCalibration(const PlanFlags& flags,
                                            const FileSystem& files,
                                            const JobFlags& job,
                                            const FlagSet& job_set,
                                            MainWait* wait) {
  if (flags.measure) return Measure(flags, files, job, job_set, wait);
  SHOAL_ASSIGN_OR_RETURN(Calibration read, ReadCalibration(flags, files));
  if (job_set.given("training_data_dir")) {
    SHOAL_RETURN_IF_ERROR(CountIds(files, job, &read));
  }
  return read;
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
    modes.push_back(mode);
  }
  return modes;
}

// Flags of a job that a plan has in another way, and what to give.
absl::Status CheckJobFlags(const FlagSet& set) {
  if (set.given("mode")) {
    return absl::InvalidArgumentError(
        "--mode is not for a plan, which is of several modes: give --modes");
  }
  if (set.given("workers")) {
    return absl::InvalidArgumentError(
        "--workers is not for a plan: give --worker_per_host, and the hosts in "
        "--cluster");
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

// SampleRatio of the job. `work` is that of its model.
absl::StatusOr<double> RatioOf(const Calibration& calibration,
                               const PlannedJob& job, const SampleWork& work) {
  const double ratio = SampleRatio(calibration, work, job.batch_size);
  if (ratio > 0) return ratio;
  if (calibration.work.plain > 0) {
    return absl::InvalidArgumentError(
        "--model: a model without deep layers cannot be planned from what was "
        "measured of one that has some; measure it with --measure");
  }
  if (job.dense_bytes == calibration.dense_bytes &&
      job.row_floats == calibration.row_floats) {
    return 1;
  }
  return absl::InvalidArgumentError(
      "what was measured does not say how much its model computes (it is a "
      "file of an older version, or a model without deep layers), so only that "
      "model can be planned from it; measure again");
}

// The measured job, changed by the flags that are given.
absl::StatusOr<PlannedJob> JobOf(const PlanFlags& plan,
                                 const Calibration& calibration,
                                 const JobFlags& flags, const FlagSet& set) {
  PlannedJob job = MeasuredJob(calibration);
  job.workers_per_host = plan.worker_per_host;
  if (set.given("batch_size")) job.batch_size = flags.training.batch_size;
  if (set.given("ssp_bound")) job.ssp_bound = flags.modes.ssp_bound;
  if (set.given("pipeline_depth")) {
    job.pipeline_depth = flags.training.pipeline_depth;
  }
  if (set.given("bucket_bytes")) {
    job.bucket_bytes = static_cast<double>(flags.modes.bucket_bytes);
  }
  if (flags.modes.reduction == Reduction::kRankOrder) {
    return absl::InvalidArgumentError(
        "--reduction=rank_order: the planner knows --reduction=fast alone");
  }
  SampleWork work = calibration.work;
  if (GivesModel(set)) {
    SHOAL_ASSIGN_OR_RETURN(const JobPlan job_plan, PlanJob(flags));
    const VariableSizes sizes = SizesOf(job_plan.spec);
    job.dense_bytes = static_cast<double>(sizes.dense_bytes);
    job.row_floats = static_cast<double>(sizes.row_bytes) / 4;
    job.table_bytes = static_cast<double>(sizes.table_bytes);
    work = FindModel(job_plan.model.model)->work(job_plan.model);
  }
  SHOAL_ASSIGN_OR_RETURN(job.sample_ratio, RatioOf(calibration, job, work));
  return job;
}

// Reads the flags of the job. Measuring trains, so the job must be whole;
// otherwise flags that describe it are enough.
std::optional<ExitCode> ParseJob(const PlanFlags& plan, const Args& args,
                                 JobFlags* flags, FlagSet* set) {
  if (plan.measure) {
    const auto exit = ParseJobOrExit(flags, set, args);
    if (exit.has_value()) return exit;
    const absl::Status checked = CheckJobFlags(*set);
    if (checked.ok()) return std::nullopt;
    return Complain("shoal plan", checked, kExitUsage);
  }
  absl::Status read = set->ReadArguments(args);
  if (read.ok()) read = CheckJobFlags(*set);
  if (read.ok() && (GivesModel(*set) || set->given("training_data_dir"))) {
    if (flags->data.training_data_dir.empty()) {
      flags->data.training_data_dir = "not read";
    }
    // A plan is of all modes, so settings of single ones go together.
    const ModeFlags modes = std::exchange(flags->modes, ModeFlags());
    read = flags->Validate();
    flags->modes = modes;
  }
  if (read.ok()) return std::nullopt;
  return Complain("shoal plan", read, kExitUsage);
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
  if (const absl::Status sources = CheckSources(plan, set); !sources.ok()) {
    return usage(sources);
  }
  JobFlags flags(Command::kTrain);
  FlagSet job_set = JobFlagSet(&flags);
  if (const auto exit = ParseJob(plan, split.job, &flags, &job_set)) {
    return *exit;
  }
  const std::unique_ptr<FileSystem> files = NewPosixFileSystem();
  auto calibration = FindCalibration(plan, *files, flags, job_set, &wait);
  if (absl::IsCancelled(calibration.status())) {
    return Complain(set.command(), calibration.status(), kExitStopped);
  }
  if (!calibration.ok()) return Complain(set.command(), calibration.status());
  if (!plan.calibration_out.empty()) {
    const absl::Status written = WriteOutput(*files, plan.calibration_out,
                                             CalibrationToJson(*calibration));
    if (!written.ok()) return Complain(set.command(), written);
  }
  const auto job = JobOf(plan, *calibration, flags, job_set);
  if (!job.ok()) return usage(job.status());
  request.calibration = *std::move(calibration);
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
