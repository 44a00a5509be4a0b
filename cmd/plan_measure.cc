#include "cmd/plan_measure.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/cpu_name.h"
#include "base/json_reader.h"
#include "base/status_macros.h"
#include "datatools/id_growth.h"
#include "job/data_sources.h"
#include "job/job_plan.h"
#include "job/options_from_flags.h"
#include "launch/child_process.h"
#include "launch/command.h"
#include "launch/job_flag_set.h"
#include "plan/fit_costs.h"

namespace shoal {
namespace {

constexpr absl::Duration kEnd = absl::Seconds(30);
constexpr size_t kMostOutput = 4000;
constexpr char kProgram[] = "/proc/self/exe";
// Figures of fewer steps say little.
constexpr double kFewestSteps = 20;

// A directory for the summary, which is removed at the end.
class Scratch {
 public:
  static absl::StatusOr<std::unique_ptr<Scratch>> Make() {
    std::string path = "/tmp/shoal-plan-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) {
      return absl::FailedPreconditionError(
          "no directory can be made in /tmp, where the measurement keeps its "
          "summary; make room there");
    }
    return std::make_unique<Scratch>(std::move(path));
  }
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  ~Scratch() {
    unlink(summary().c_str());
    rmdir(path_.c_str());
  }
  std::string summary() const { return path_ + "/summary.json"; }

 private:
  const std::string path_;
};

// Reads what a child prints until `until`, or until the child has closed its
// pipe. Keeps the last part of it.
void ReadOutput(const ChildProcess& child, absl::Time until,
                std::string* output) {
  bool open = true;
  while (open && absl::Now() < until) {
    pollfd polled[] = {{child.out, POLLIN, 0}, {child.err, POLLIN, 0}};
    poll(polled, 2, 100);
    open = false;
    for (const int fd : {child.out, child.err}) {
      char bytes[4096];
      ssize_t n;
      while ((n = read(fd, bytes, sizeof bytes)) > 0) {
        output->append(bytes, static_cast<size_t>(n));
      }
      open = open || n < 0;
    }
    if (output->size() > kMostOutput) {
      output->erase(0, output->size() - kMostOutput);
    }
  }
}

// True for flags that the measurement sets itself, and for those that would
// leave something behind or do more than train.
bool IsOwn(absl::string_view flag) {
  for (const absl::string_view name :
       {"mode", "workers", "ps", "num_epochs", "warmup_steps", "print_config",
        "summary", "val_data_dir", "model_dir", "write_config",
        "record_compute", "metrics_port", "predictions_file", "quarantine_dir",
        "backup_workers", "reduction"}) {
    if (absl::StartsWith(flag, absl::StrCat("--", name, "="))) return true;
  }
  return false;
}

// Runs the job for `span` after the start of its process, reading of data
// included, and stops it. Returns its summary.
absl::StatusOr<std::string> TrainFor(const FileSystem& files,
                                     const FlagSet& set, absl::Duration span) {
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<Scratch> scratch,
                         Scratch::Make());
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
  SHOAL_ASSIGN_OR_RETURN(const ChildProcess child, StartChild(argv));
  std::string output;
  ReadOutput(child, absl::Now() + span, &output);
  PassOnSignal(child.pid, SIGTERM);
  ReadOutput(child, absl::Now() + kEnd, &output);
  ProcessExit exit;
  const absl::Time deadline = absl::Now() + kEnd;
  while (!ReapChild(child.pid, &exit)) {
    if (absl::Now() > deadline) SignalGroup(child.pid, SIGKILL);
    absl::SleepFor(absl::Milliseconds(20));
  }
  close(child.out);
  close(child.err);
  const auto read = [&]() -> absl::StatusOr<std::string> {
    SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> file,
                           files.OpenForRead(scratch->summary()));
    std::string text(file->size(), '\0');
    SHOAL_RETURN_IF_ERROR(
        file->Read(0, absl::MakeSpan(text.data(), text.size())).status());
    return text;
  };
  auto summary = read();
  if (!summary.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the training that was to be measured ", exit.Describe(),
                     "; it printed:\n", output));
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
    const JsonNode steps = root.Field("step_seconds");
    calibration->step_times = NormalizedTimes(
        {steps.Field("p10").Double(), steps.Field("p50").Double(),
         steps.Field("p90").Double(), steps.Field("p99").Double(),
         steps.Field("max").Double(), steps.Field("count").Double()});
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

absl::StatusOr<JobSizes> SizesOf(const JobFlags& flags) {
  SHOAL_ASSIGN_OR_RETURN(const JobPlan plan, PlanJob(flags));
  JobSizes sizes;
  sizes.dense_bytes = 4 * static_cast<double>(plan.spec.dense_size());
  for (const TableSpec& table : plan.spec.tables) {
    if (table.on_every_shard) continue;
    sizes.row_floats += table.row_dim();
    sizes.table_bytes += 4.0 * static_cast<double>(table.feature_size) *
                         (table.row_dim() + table.slot_dim());
  }
  for (const DenseSpec& dense : plan.spec.dense) {
    // 2 operations for a weight in the forward pass, and 4 in the backward one.
    if (dense.shape.size() == 2) {
      sizes.flop_per_sample += 6.0 * static_cast<double>(dense.size());
    }
  }
  return sizes;
}

absl::Status CountIds(const FileSystem& files, const JobFlags& flags,
                      Calibration* calibration) {
  SHOAL_ASSIGN_OR_RETURN(const DataSources sources,
                         SourcesFromFlags(files, flags));
  const PieceReaderOptions reader = PieceReaderOptionsFromFlags(flags);
  IdGrowthOptions options;
  options.format = reader.format;
  options.feature_size = reader.feature_size;
  options.field_size = reader.field_size;
  options.batch_size = static_cast<uint32_t>(calibration->batch_size);
  std::vector<std::string> paths;
  for (const LocalSource& source : sources.train) {
    paths.push_back(source.path);
  }
  SHOAL_ASSIGN_OR_RETURN(const std::vector<IdGrowthPoint> points,
                         MeasureIdGrowth(files, paths, options));
  calibration->distinct_ids.clear();
  for (const IdGrowthPoint& point : points) {
    calibration->distinct_ids.push_back(
        {static_cast<double>(point.batches) * calibration->batch_size,
         point.ids});
  }
  return absl::OkStatus();
}

absl::StatusOr<Calibration> MeasureJob(const FileSystem& files,
                                       const JobFlags& flags,
                                       const FlagSet& set,
                                       absl::Duration span) {
  Calibration known;
  known.cpu = CpuName();
  known.batch_size = flags.training.batch_size;
  SHOAL_ASSIGN_OR_RETURN(const JobSizes sizes, SizesOf(flags));
  known.dense_bytes = sizes.dense_bytes;
  known.row_floats = sizes.row_floats;
  known.flop_per_sample = sizes.flop_per_sample;
  known.table_bytes = sizes.table_bytes;
  // The usual spread, unless the summary knows better.
  known.step_times = NormalizedTimes({.93, .99, 1.07, 1.3, 2});
  SHOAL_RETURN_IF_ERROR(CountIds(files, flags, &known));
  SHOAL_ASSIGN_OR_RETURN(const std::string summary, TrainFor(files, set, span));
  MeasuredCell cell;
  // One process that holds all variables is a ring of one rank.
  cell.mode = "ring";
  cell.batch_size = known.batch_size;
  SHOAL_RETURN_IF_ERROR(ReadSummary(summary, &cell, &known));
  // The process also holds the tables and the dense variables.
  known.worker_memory = std::max(
      100e6, known.worker_memory - known.table_bytes - 3 * known.dense_bytes);
  known.source = absl::StrCat("one process, ", absl::FormatDuration(span));
  return FitCosts({cell}, std::move(known));
}

}  // namespace shoal
