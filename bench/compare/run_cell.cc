#include "bench/compare/run_cell.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "bench/compare/cell_flags.h"
#include "bench/compare/cpu_watch.h"
#include "bench/compare/dilation.h"
#include "bench/compare/run_window.h"
#include "job/launched_job.h"
#include "job/plan_processes.h"

namespace shoal {
namespace {

// Tries of a run until its warm-up is long enough.
constexpr int kWarmUpTries = 3;

absl::Status MeasureLink(const Cell& cell, const Lab& lab, CellRun* run) {
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

}  // namespace

CellRunner::CellRunner(CellRunnerOptions options)
    : options_(std::move(options)),
      launcher_(options_.launcher),
      profiles_(
          {options_.many_epochs, JoinPath(options_.launcher.out, "profiles"),
           options_.launcher.files},
          &launcher_) {}

absl::Status CellRunner::Check(const Cell& cell) const {
  if (options_.launcher.where == "lab") {
    SHOAL_RETURN_IF_ERROR(CheckPlayable(cell));
  }
  if (on_real_hosts()) {
    const size_t known = options_.launcher.on.size();
    if (static_cast<size_t>(cell.hosts) > known) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--hosts asks for ", cell.hosts, " hosts, and --on has ", known));
    }
    if (cell.replayed()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "cell ", cell.name, " would be replayed, which is not for --on; "
          "give a larger --replay_hosts"));
    }
  }
  CellPlace place;
  place.hosts = launcher_.HostsOf(cell, /*lab=*/nullptr);
  place.epochs = timed() ? options_.many_epochs : 0;
  Cell real = cell;  // there is no profile yet
  real.compute = kComputed;
  return Annotate(launcher_.Plan(real, place).status(),
                  absl::StrCat("cell ", cell.name));
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
    SHOAL_ASSIGN_OR_RETURN(
        const RecordedProfile profile,
        profiles_.ProfileOf(cell, run->repeat, run->paused_speed));
    place.profile = profile.path;
    run->others_cores = profile.others_cores;
  }
  SHOAL_RETURN_IF_ERROR(launcher_.CheckRoom(cell, place));
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<Lab> lab,
                         launcher_.LabOf(cell, run->paused_speed));
  if (lab != nullptr) SHOAL_RETURN_IF_ERROR(MeasureLink(cell, *lab, run));
  place.hosts = launcher_.HostsOf(cell, lab.get());
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<ParsedJob> job,
                         launcher_.Plan(cell, place));
  if (on_real_hosts()) {
    SHOAL_RETURN_IF_ERROR(CheckRemoteHosts(job->flags));
  }
  RunWindow window(static_cast<uint64_t>(job->flags.training.warmup_steps),
                   cell.hosts, options_.cell_time, /*slowed=*/lab != nullptr,
                   cell.dilation);
  const auto enough = [&window](const ProgressFigures& figures) {
    return window.IsOver(figures.step, absl::Seconds(figures.wall_seconds));
  };
  const CpuWatch watch;
  const auto end = launcher_.Run(cell, run->paused_speed, job.get(), lab.get(),
                                 cell.name, enough);
  *early = window.early().value_or(0);
  // A job that trained too early is not blamed for how it ended.
  if (!end.ok() && (*early == 0 || absl::IsCancelled(end.status()))) {
    return end.status();
  }
  // Elsewhere the job's own processes may not be children of this one.
  if (!on_real_hosts()) {
    run->others_cores = std::max(run->others_cores, watch.OthersCores());
  }
  SHOAL_RETURN_IF_ERROR(window.status());
  return Annotate(
      ReadSummary(end->summary, cell, options_.target_auc, run, data),
      "the job's summary");
}

}  // namespace shoal
