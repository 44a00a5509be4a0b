#include "bench/calibrate/measure_job.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/cpu_name.h"
#include "base/json_reader.h"
#include "base/status_macros.h"
#include "bench/compare/figure_json.h"
#include "bench/compare/text_file.h"
#include "job/job_id_growth.h"
#include "job/job_plan.h"
#include "job/options_from_flags.h"
#include "job/variable_sizes.h"
#include "launch/child_process.h"
#include "launch/command.h"
#include "launch/job_flag_set.h"
#include "models/model_table.h"
#include "plan/fit_costs.h"
#include "plan/step_demand.h"

namespace shoal {
namespace {

// How long the training may take to end, and to end after a stop.
constexpr absl::Duration kEnd = absl::Seconds(30);
constexpr absl::Duration kEndOfStopped = absl::Seconds(5);
constexpr size_t kMostOutput = 4000;
constexpr char kProgram[] = "/proc/self/exe";
// Figures of fewer steps say little.
constexpr double kFewestSteps = 20;
// Groups of batches whose distinct ids are counted have at most so many.
constexpr uint64_t kMostBatches = 256;

using Stopped = absl::FunctionRef<absl::Status()>;

// A directory for the summary, which is removed at the end.
class Scratch {
 public:
  static absl::StatusOr<std::unique_ptr<Scratch>> Make(
      const std::string& parent) {
    std::string path = absl::StrCat(parent, "/shoal-plan-XXXXXX");
    if (mkdtemp(path.data()) == nullptr) {
      return absl::FailedPreconditionError(absl::StrCat(
          "no directory can be made in ", parent,
          ", where the measurement keeps its summary; make room there"));
    }
    return std::make_unique<Scratch>(std::move(path));
  }
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  ~Scratch() {
    // A summary that was being written when its process was killed is there
    // under another name.
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string summary() const { return path_ + "/summary.json"; }

 private:
  const std::string path_;
};

// A child process with the end of what it prints. Its end is waited for.
class Training {
 public:
  static absl::StatusOr<std::unique_ptr<Training>> Start(
      const std::vector<std::string>& argv) {
    SHOAL_ASSIGN_OR_RETURN(const ChildProcess child, StartChild(argv));
    return std::make_unique<Training>(child);
  }
  explicit Training(const ChildProcess& child) : child_(child) {}
  ~Training() {
    End(kEndOfStopped);
    close(child_.out);
    close(child_.err);
  }
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  // Reads until `until`, or until the child has closed its pipes, or `stopped`
  // is not OK, which it returns.
  absl::Status ReadUntil(absl::Time until, Stopped stopped) {
    while (open_ && absl::Now() < until) {
      SHOAL_RETURN_IF_ERROR(stopped());
      ReadSome();
    }
    return stopped();
  }

  void Ask() { PassOnSignal(child_.pid, SIGTERM); }

  // Waits for the end; a child that lives on after `grace` is killed.
  const ProcessExit& End(absl::Duration grace) {
    if (!ended_) Ask();
    const absl::Time deadline = absl::Now() + grace;
    while (!ended_) {
      ended_ = ReapChild(child_.pid, &exit_);
      if (ended_) break;
      if (absl::Now() > deadline) SignalGroup(child_.pid, SIGKILL);
      // A full pipe would hold the child.
      open_ ? ReadSome() : absl::SleepFor(absl::Milliseconds(20));
    }
    return exit_;
  }

  const std::string& output() const { return output_; }

 private:
  // What is there now, or within a tenth of a second.
  void ReadSome() {
    pollfd polled[] = {{child_.out, POLLIN, 0}, {child_.err, POLLIN, 0}};
    poll(polled, 2, 100);
    open_ = false;
    for (const int fd : {child_.out, child_.err}) {
      char bytes[4096];
      ssize_t n;
      while ((n = read(fd, bytes, sizeof bytes)) > 0) {
        output_.append(bytes, static_cast<size_t>(n));
      }
      open_ = open_ || n < 0;
    }
    if (output_.size() > kMostOutput) {
      output_.erase(0, output_.size() - kMostOutput);
    }
  }

  const ChildProcess child_;
  bool open_ = true;
  bool ended_ = false;
  ProcessExit exit_;
  std::string output_;
};

// True for flags that the measurement sets itself, and for those that would
// leave something behind or do more than train.
bool IsOwn(absl::string_view flag) {
  for (const absl::string_view name :
       {"mode", "workers", "ps", "num_epochs", "warmup_steps", "print_config",
        "summary", "val_data_dir", "model_dir", "write_config",
        "record_compute", "metrics_port", "predictions_file", "quarantine_dir",
        "backup_workers", "reduction", "ssp_bound", "bucket_bytes"}) {
    if (absl::StartsWith(flag, absl::StrCat("--", name, "="))) return true;
  }
  return false;
}

// Runs the job for `span` after the start of its process, reading of data
// included, and stops it. Returns its summary.
absl::StatusOr<std::string> TrainFor(const FileSystem& files,
                                     const FlagSet& set,
                                     const MeasureOptions& options,
                                     Stopped stopped) {
  SHOAL_RETURN_IF_ERROR(stopped());
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<Scratch> scratch,
                         Scratch::Make(options.scratch));
  // The data are passed over until the time is up.
  std::vector<std::string> argv = {kProgram,
                                   "train",
                                   "--mode=async",
                                   "--workers=1",
                                   "--num_epochs=1000",
                                   "--warmup_steps=20",
                                   "--print_config=false",
                                   "--summary=" + scratch->summary()};
  for (std::string& flag : HandedDownFlags(set, Command::kTrain)) {
    if (!IsOwn(flag)) argv.push_back(std::move(flag));
  }
  // Ends before the directory goes.
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<Training> training,
                         Training::Start(argv));
  SHOAL_RETURN_IF_ERROR(
      training->ReadUntil(absl::Now() + options.span, stopped));
  training->Ask();
  SHOAL_RETURN_IF_ERROR(training->ReadUntil(absl::Now() + kEnd, stopped));
  const ProcessExit exit = training->End(kEnd);
  auto summary = ReadTextFile(files, scratch->summary());
  if (!summary.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the training that was to be measured ", exit.Describe(),
                     "; it printed:\n", training->output()));
  }
  return summary;
}

// The figures of a summary (docs/summary.md).
absl::Status ReadSummary(const std::string& text, MeasuredCell* cell,
                         Calibration* calibration) {
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<JsonDocument> document,
                         JsonDocument::Parse(text));
  const JsonNode& root = document->root();
  const JsonNode steady = root.Field("steady");
  const double samples = steady.Field("samples").Double();
  cell->samples_per_second = steady.Field("samples_per_second").Double();
  const double cpu = steady.Field("cpu_seconds").Field("worker").Double();
  const JsonNode processes = root.Field("processes");
  if (processes.Size(100000) > 0) {
    calibration->worker_memory =
        processes.At(0).Field("peak_rss_bytes").Double();
  }
  // A figure of newer versions.
  if (root.Has("step_seconds") &&
      root.Field("step_seconds").kind() == JsonKind::kObject) {
    const RunSteps steps = ReadRunSteps(root.Field("step_seconds"));
    calibration->step_times =
        NormalizedTimes({steps.p10, steps.p50, steps.p90, steps.p99, steps.max,
                         static_cast<double>(steps.count)},
                        steps.mean);
  }
  SHOAL_RETURN_IF_ERROR(document->status());
  if (samples < kFewestSteps * cell->batch_size || cpu <= 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "only ", samples,
        " samples were trained after the first 20 steps; "
        "measure for longer (--measure_time) or give a smaller --batch_size"));
  }
  cell->worker_cpu = cpu / samples;
  return absl::OkStatus();
}

}  // namespace

absl::Status CountIds(const FileSystem& files, const JobFlags& flags,
                      Calibration* calibration) {
  SHOAL_ASSIGN_OR_RETURN(
      const std::vector<IdGrowthPoint> points,
      MeasureJobIdGrowth(files, flags,
                         static_cast<uint32_t>(calibration->batch_size),
                         kMostBatches));
  calibration->distinct_ids.clear();
  for (const IdGrowthPoint& point : points) {
    calibration->distinct_ids.push_back(
        {static_cast<double>(point.batches) * calibration->batch_size,
         point.ids});
  }
  return absl::OkStatus();
}

absl::StatusOr<Calibration> MeasureJob(
    const FileSystem& files, const JobFlags& flags, const FlagSet& set,
    const MeasureOptions& options, absl::FunctionRef<absl::Status()> stopped) {
  Calibration known;
  known.cpu = CpuName();
  known.batch_size = flags.training.batch_size;
  SHOAL_ASSIGN_OR_RETURN(const JobPlan plan, PlanJob(flags));
  const VariableSizes sizes = SizesOf(plan.spec);
  known.dense_bytes = static_cast<double>(sizes.dense_bytes);
  known.row_floats = static_cast<double>(sizes.row_bytes) / 4;
  known.work = FindModel(plan.model.model)->work(plan.model);
  known.table_bytes = static_cast<double>(sizes.table_bytes);
  known.ssp_bound = flags.modes.ssp_bound;
  known.bucket_bytes = static_cast<double>(flags.modes.bucket_bytes);
  if (set.given("pipeline_depth")) {
    known.pipeline_depth = flags.training.pipeline_depth;
  }
  if (options.others != nullptr) {
    known.costs = CostsWithRows(*options.others, known.row_floats);
  }
  // The usual spread, unless the summary knows better.
  known.step_times = UsualTimes();
  SHOAL_RETURN_IF_ERROR(CountIds(files, flags, &known));
  SHOAL_ASSIGN_OR_RETURN(const std::string summary,
                         TrainFor(files, set, options, stopped));
  MeasuredCell cell;
  // One process that holds all variables is a ring of one rank.
  cell.mode = "ring";
  cell.batch_size = known.batch_size;
  cell.cores = std::thread::hardware_concurrency();
  SHOAL_RETURN_IF_ERROR(ReadSummary(summary, &cell, &known));
  // Where the fit begins; it ends no lower than at a tenth of it.
  known.costs.sample = cell.worker_cpu;
  // The process also holds the tables and the dense variables.
  known.worker_memory = std::max(
      100e6, known.worker_memory - known.table_bytes - 3 * known.dense_bytes);
  known.source =
      absl::StrCat("one process, ", absl::FormatDuration(options.span));
  return FitCosts({cell}, std::move(known));
}

}  // namespace shoal
