#include "bench/compare/run_cell.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "base/host_memory.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "bench/compare/byte_formula.h"
#include "bench/compare/cpu_watch.h"
#include "bench/compare/dilation.h"
#include "bench/compare/pause_meter.h"
#include "bench/compare/run_window.h"
#include "job/job_id_growth.h"
#include "job/job_plan.h"
#include "job/memory_forecast.h"
#include "job/options_from_flags.h"
#include "job/plan_processes.h"
#include "job/temporary_token.h"
#include "job/variable_sizes.h"
#include "job/worker_compute.h"
#include "launch/job_flag_set.h"
#include "models/compute_profile.h"
#include "models/model_table.h"
#include "models/timeline_sample.h"
#include "report/live_output.h"
#include "rpc/token.h"

namespace shoal {
namespace {

// A profile is recorded for so many steps, or so long, but for the least number
// of steps in any case. Of some steps more it keeps every second one.
constexpr uint64_t kRecordSteps =
    TimelineSample::kWarmUpSteps + ComputeProfile::kMostSteps;
constexpr uint64_t kLeastRecordSteps = 2 * TimelineSample::kWarmUpSteps;
constexpr double kRecordSeconds = 20;
// A profile is for paused speeds within this share of its own.
constexpr double kRecordTolerance = .05;
// Tries of a run until its warm-up is long enough.
constexpr int kWarmUpTries = 3;
// Batches of the data in which distinct ids are counted.
constexpr uint64_t kIdBatches = 16;

// A log file as the output of a job.
class LogFile {
 public:
  explicit LogFile(const std::string& path)
      : fd_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                 0644)) {}
  ~LogFile() {
    if (fd_ >= 0) close(fd_);
  }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  // Without the file nothing is logged.
  LiveOutputOptions options() const {
    LiveOutputOptions options;
    options.fd = fd_;
    options.stamp = true;
    return options;
  }

 private:
  const int fd_;
};

}  // namespace

// The flags of one job, parsed, and what lives as long as the job.
struct CellRunner::Planned {
  JobFlags flags{Command::kRun};
  FlagSet set = JobFlagSet(&flags);
  std::unique_ptr<TemporaryToken> token;
};

absl::StatusOr<std::unique_ptr<CellRunner::Planned>> CellRunner::Plan(
    const FlagMap& flags) const {
  auto planned = std::make_unique<Planned>();
  SHOAL_RETURN_IF_ERROR(planned->set.Parse(Arguments(flags)));
  planned->flags.given = planned->set.Given();
  SHOAL_RETURN_IF_ERROR(planned->flags.Validate());
  SHOAL_ASSIGN_OR_RETURN(const JobPlan plan, PlanJob(planned->flags));
  if (planned->flags.compute.Replays()) {
    SHOAL_ASSIGN_OR_RETURN(
        const WorkerComputeOptions compute,
        WorkerComputeFromFlags(planned->flags, *options_.files));
    SHOAL_RETURN_IF_ERROR(CheckReplay(compute, plan));
  }
  return planned;
}

std::string CellRunner::Below(const std::string& folder,
                              const std::string& name) const {
  return JoinPath(JoinPath(options_.out, folder), name);
}

std::string CellRunner::HostsOf(const Cell& cell) const {
  if (options_.where != "hosts") return "";
  const auto first = options_.on.begin();
  return absl::StrJoin(first, first + cell.hosts, ",");
}

absl::Status CellRunner::Check(const Cell& cell) const {
  if (options_.where == "lab") SHOAL_RETURN_IF_ERROR(CheckPlayable(cell));
  if (options_.where == "hosts") {
    if (static_cast<size_t>(cell.hosts) > options_.on.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--hosts asks for ", cell.hosts, " hosts, and --on has ",
          options_.on.size()));
    }
    if (cell.replayed()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "cell ", cell.name, " would be replayed, which is not for --on; "
          "give a larger --replay_hosts"));
    }
  }
  CellPlace place;
  place.hosts = HostsOf(cell);
  place.epochs = timed() ? options_.many_epochs : 0;
  Cell real = cell;  // there is no profile yet
  real.compute = kComputed;
  return Annotate(Plan(FlagsOfCell(real, options_.job.at(cell.model),
                                   options_.deadlines, place))
                      .status(),
                  absl::StrCat("cell ", cell.name));
}

absl::StatusOr<ComparedModel> CellRunner::ModelOf(
    const std::string& model) const {
  const FlagMap& job = options_.job.at(model);
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<Planned> planned,
                         Plan(FlagsOfModel(job)));
  SHOAL_ASSIGN_OR_RETURN(const JobPlan plan, PlanJob(planned->flags));
  const VariableSizes sizes = SizesOf(plan.spec);
  return ComparedModel{job,
                       sizes.dense_bytes,
                       sizes.row_bytes,
                       sizes.flop_per_sample,
                       sizes.table_bytes,
                       FindModel(plan.model.model)->work(plan.model)};
}

std::vector<IdCount> CellRunner::IdGrowth(const std::string& model, int batch) {
  const auto [counts, is_new] = distinct_ids_.try_emplace({model, batch});
  if (!is_new) return counts->second;
  const auto planned = Plan(FlagsOfModel(options_.job.at(model)));
  if (!planned.ok()) return {};
  const auto points =
      MeasureJobIdGrowth(*options_.files, (*planned)->flags,
                         static_cast<uint32_t>(batch), kIdBatches / 2);
  if (!points.ok()) return {};
  for (const IdGrowthPoint& point : *points) {
    if (point.ids <= 0) break;
    counts->second.push_back(
        {static_cast<double>(point.batches) * batch, point.ids});
  }
  return counts->second;
}

std::optional<RoleBytes> CellRunner::Formula(const Cell& cell,
                                             double mean_batch) {
  if (options_.where == "hosts") return std::nullopt;
  if (mean_batch <= 0) mean_batch = cell.batch_size;
  const int batch = std::max(1, static_cast<int>(mean_batch));
  const auto model = ModelOf(cell.model);
  if (!model.ok()) return std::nullopt;
  const std::vector<IdCount> rows = IdGrowth(cell.model, batch);
  if (rows.empty()) return std::nullopt;
  return FormulaOf(cell, *model, mean_batch, rows.front().ids);
}

absl::StatusOr<CellRun> CellRunner::Run(const Cell& cell, int repeat,
                                        double paused_speed,
                                        SummaryData* data) {
  CellRun run;
  absl::Status measured;
  for (int i = 0; i < kWarmUpTries; ++i) {
    run = CellRun();
    run.repeat = repeat;
    run.paused_speed = paused_speed;
    uint64_t early = 0;
    measured = Measure(cell, data, &run, &early);
    if (early == 0 || absl::IsCancelled(measured)) break;
    warmup_steps_[cell.name] = 4 * early;
  }
  if (absl::IsCancelled(measured)) return measured;
  run.ok = measured.ok();
  if (!run.ok) {
    run.error = std::string(measured.message());
    if (run.error.empty()) run.error = "the job failed and did not say why";
  }
  return run;
}

absl::Status CellRunner::MeasureLink(const Cell& cell, const Lab& lab,
                                     CellRun* run) {
  if (cell.bits_per_second <= 0 || cell.hosts < 2) return absl::OkStatus();
  SHOAL_ASSIGN_OR_RETURN(const std::vector<double> rates, lab.Streams());
  const double expected = StreamRate(cell.bits_per_second);
  const auto error = [&](double rate) {
    return std::abs(rate * cell.dilation - expected);
  };
  const double worst = *absl::c_max_element(
      rates, [&](double a, double b) { return error(a) < error(b); });
  run->link_bits_per_second = worst * cell.dilation;
  run->link_expected = expected;
  return absl::OkStatus();
}

absl::StatusOr<LaunchedJobOptions> CellRunner::PlanStart(const Cell& cell,
                                                         double paused_speed,
                                                         Planned* planned,
                                                         const Lab* lab) const {
  if (lab == nullptr && options_.where != "hosts") {
    SHOAL_ASSIGN_OR_RETURN(planned->token, TemporaryToken::Create());
    return PlanLocalProcesses(planned->flags, planned->set,
                              planned->token->path());
  }
  SHOAL_ASSIGN_OR_RETURN(const std::string token, MakeToken());
  if (lab == nullptr)
    return PlanRemoteProcesses(planned->flags, planned->set, token);
  const HostCommand on_host = lab->Command();
  return PlanProcessesOnHosts(
      planned->flags, planned->set, token,
      [&](const RemoteHost& host, const std::vector<std::string>& command) {
        std::vector<std::string> own = command;
        for (std::string& argument : own) {
          if (!absl::StartsWith(argument, "--compute_scale=")) continue;
          for (int i = 0; i < lab->size(); ++i) {
            if (lab->address(i) != host.address) continue;
            argument = absl::StrFormat("--compute_scale=%.17g",
                                       ComputeScaleOf(cell, i, paused_speed));
          }
        }
        return on_host(host, own);
      });
}

absl::StatusOr<LaunchedJobEnd> CellRunner::Launch(
    LaunchedJobOptions options, const std::string& log) const {
  const LogFile file(Below("logs", log));
  LiveOutput output(file.options());
  LaunchedJobEnd end = LaunchedJob(std::move(options), &output).Run();
  if (end.status.ok() || end.stopped_as_planned) return end;
  if (absl::IsCancelled(end.status)) return end.status;
  return absl::AbortedError(absl::StrCat(end.status.message()));
}

absl::StatusOr<std::unique_ptr<Lab>> CellRunner::LabOf(
    const Cell& cell, double paused_speed) const {
  if (options_.where != "lab") return nullptr;
  return Lab::Make(SharesOf(cell, paused_speed, options_.cores));
}

absl::StatusOr<std::string> CellRunner::ProfileOf(const Cell& cell, int repeat,
                                                  double paused_speed) {
  const Cell alone = AloneOf(cell);
  const std::string name = absl::StrFormat(
      "%s_%s_b%d_c%.4g_t%.4g.%d", alone.model, alone.mode, alone.batch_size,
      alone.cores_per_host, alone.dilation, repeat + 1);
  const std::string path = Below("profiles", name + ".json");
  const auto recorded = recorded_.find(path);
  // An earlier command has recorded it, and its paused speed is not known now.
  const bool unknown = recorded == recorded_.end() && paused_speed < 1;
  const bool other =
      recorded != recorded_.end() &&
      std::abs(paused_speed / recorded->second - 1) > kRecordTolerance;
  if (!unknown && !other && options_.files->OpenForRead(path).ok()) return path;
  CellPlace place;
  // Whole records alone have the name that is looked for.
  place.record = path + ".part";
  place.epochs = options_.many_epochs;
  place.paused_speed = paused_speed;
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<Lab> lab,
                         LabOf(alone, paused_speed));
  if (lab != nullptr) place.hosts = lab->Hosts();
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<Planned> planned,
                         Plan(FlagsOfCell(alone, options_.job.at(alone.model),
                                          options_.deadlines, place)));
  const auto enough = [](const ProgressFigures& figures) {
    return figures.step >= kRecordSteps ||
           (figures.step >= kLeastRecordSteps &&
            figures.wall_seconds >= kRecordSeconds);
  };
  const std::string what = "cannot record the computation";
  SHOAL_RETURN_IF_ERROR(Annotate(RunJob(alone, paused_speed, planned.get(),
                                        lab.get(), "record_" + name, enough)
                                     .status(),
                                 what));
  SHOAL_RETURN_IF_ERROR(
      Annotate(options_.files->Rename(place.record, path), what));
  recorded_[path] = paused_speed;
  return path;
}

absl::Status CellRunner::CheckRoom(const Cell& cell, CellPlace place) const {
  if (options_.where == "hosts") return absl::OkStatus();
  place.hosts = "";
  SHOAL_ASSIGN_OR_RETURN(
      const std::unique_ptr<Planned> planned,
      Plan(FlagsOfCell(cell, options_.job.at(cell.model), options_.deadlines,
                       place)));
  if (!planned->flags.monitoring.memory_check) return absl::OkStatus();
  SHOAL_ASSIGN_OR_RETURN(const JobPlan plan, PlanJob(planned->flags));
  const HostMemory memory = ReadHostMemory();
  return CheckMemory(
      ForecastHost(planned->flags, plan,
                   MeasureData(*options_.files, planned->flags), memory),
      memory);
}

absl::Status CellRunner::Measure(const Cell& cell, SummaryData* data,
                                 CellRun* run, uint64_t* early) {
  CellPlace place;
  if (const auto steps = warmup_steps_.find(cell.name);
      steps != warmup_steps_.end()) {
    place.least_warmup_steps = steps->second;
  }
  place.epochs = timed() ? options_.many_epochs : 0;
  place.paused_speed = run->paused_speed;
  if (options_.first_seed.has_value()) {
    place.seed = *options_.first_seed + static_cast<uint64_t>(run->repeat);
  }
  if (cell.replayed()) {
    SHOAL_ASSIGN_OR_RETURN(place.profile,
                           ProfileOf(cell, run->repeat, run->paused_speed));
  }
  SHOAL_RETURN_IF_ERROR(CheckRoom(cell, place));
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<Lab> lab,
                         LabOf(cell, run->paused_speed));
  if (lab != nullptr) SHOAL_RETURN_IF_ERROR(MeasureLink(cell, *lab, run));
  place.hosts = lab == nullptr ? HostsOf(cell) : lab->Hosts();
  SHOAL_ASSIGN_OR_RETURN(
      const std::unique_ptr<Planned> planned,
      Plan(FlagsOfCell(cell, options_.job.at(cell.model), options_.deadlines,
                       place)));
  if (options_.where == "hosts") {
    SHOAL_RETURN_IF_ERROR(CheckRemoteHosts(planned->flags));
  }
  RunWindow window(static_cast<uint64_t>(planned->flags.training.warmup_steps),
                   cell.hosts, options_.cell_time, /*slowed=*/lab != nullptr,
                   cell.dilation);
  const auto enough = [&window](const ProgressFigures& figures) {
    return window.IsOver(figures.step, absl::Seconds(figures.wall_seconds));
  };
  const CpuWatch watch;
  const auto end = RunJob(cell, run->paused_speed, planned.get(), lab.get(),
                          cell.name, enough);
  *early = window.early().value_or(0);
  // A job that trained too early is not blamed for how it ended.
  if (!end.ok() && (*early == 0 || absl::IsCancelled(end.status()))) {
    return end.status();
  }
  // Elsewhere the job's own processes may not be children of this one.
  if (options_.where != "hosts") run->others_cores = watch.OthersCores();
  SHOAL_RETURN_IF_ERROR(window.status());
  return Annotate(
      ReadSummary(end->summary, cell, options_.target_auc, run, data),
      "the job's summary");
}

absl::StatusOr<LaunchedJobEnd> CellRunner::RunJob(
    const Cell& cell, double paused_speed, Planned* planned, Lab* lab,
    const std::string& name,
    absl::FunctionRef<bool(const ProgressFigures&)> enough) const {
  SHOAL_ASSIGN_OR_RETURN(LaunchedJobOptions job,
                         PlanStart(cell, paused_speed, planned, lab));
  bool limited = lab == nullptr;
  absl::Status limits;
  job.stop_when = [&](const ProgressFigures& figures) {
    if (!figures.started) return false;
    if (!limited) {
      limited = true;
      limits = lab->LimitCores();
    }
    return !limits.ok() || enough(figures);
  };
  auto end = Launch(std::move(job), absl::StrCat(name, ".log"));
  SHOAL_RETURN_IF_ERROR(limits);
  return end;
}

}  // namespace shoal
