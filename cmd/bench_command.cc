// shoal bench compare: which mode is best, measured.

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "base/counted.h"
#include "base/file_lock.h"
#include "base/file_system.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "bench/calibrate/comparison_calibration.h"
#include "bench/compare/asked_comparison.h"
#include "bench/compare/compare_flags.h"
#include "bench/compare/comparison_run.h"
#include "bench/compare/lab.h"
#include "bench/compare/model_facts.h"
#include "bench/compare/pause_file.h"
#include "bench/compare/pause_meter.h"
#include "bench/compare/report.h"
#include "bench/compare/run_cell.h"
#include "bench/compare/run_collective.h"
#include "bench/compare/verdict_text.h"
#include "cmd/own_terminal.h"
#include "cmd/parse_command_line.h"
#include "cmd/subcommand.h"
#include "cmd/version.h"
#include "core/choice.h"
#include "job/data_sources.h"
#include "job/main_wait.h"
#include "job/model_directory.h"
#include "launch/job_flag_set.h"
#include "launch/split_arguments.h"

namespace shoal {
namespace {

// `settings`: CommonSettings.
CollectiveRunOptions CollectiveOptions(const AskedComparison& asked,
                                       const ComparisonRunOptions& run,
                                       const std::string& settings) {
  CollectiveRunOptions options;
  options.where = run.comparison.where;
  if (!asked.flags.on.empty()) {
    options.on = absl::StrSplit(asked.flags.on, ',');
  }
  options.ssh_command = asked.job.cluster.ssh_command;
  options.remote_bin = asked.job.cluster.remote_bin;
  options.port = asked.job.cluster.ps_port;
  options.reduction = ChoiceWord(kReductions, asked.flags.reduction);
  options.out = run.out;
  options.settings = settings;
  options.files = run.files;
  options.cores = asked.cores;
  options.paused_speed = run.paused_speed;
  options.stopped = run.stopped;
  options.say = run.say;
  return options;
}

// Finds out what would fail in every cell, before the first one.
absl::Status CheckAll(const AskedComparison& asked, const CellRunner& runner,
                      const FileSystem& files) {
  for (const Cell& cell : asked.cells) {
    SHOAL_RETURN_IF_ERROR(runner.Check(cell));
  }
  if (!asked.flags.on.empty()) return absl::OkStatus();
  SHOAL_ASSIGN_OR_RETURN(const DataSources sources,
                         SourcesFromFlags(files, asked.job));
  SHOAL_RETURN_IF_ERROR(CheckNotEmpty(asked.job, sources));
  if (!asked.flags.lab) return absl::OkStatus();
  const int leftovers = Lab::RemoveLeftovers();
  if (leftovers > 0) {
    std::cerr << "removed "
              << Counted(static_cast<uint64_t>(leftovers), "leftover")
              << " of a lab whose process is gone" << std::endl;
  }
  return Annotate(Lab::Check(),
                  "--lab: no hosts can be played here (leave --lab out to "
                  "measure over loopback)");
}

// So that no other comparison writes into --out, which is made if it is
// missing. nullptr on a full disk, where what was measured before can still be
// reported.
absl::StatusOr<std::unique_ptr<FileLock>> LockOut(const FileSystem& files,
                                                  const std::string& out) {
  const std::string flag = absl::StrCat("--out=", out);
  SHOAL_RETURN_IF_ERROR(Annotate(files.CreateDirectories(out), flag));
  auto lock = FileLock::Acquire(JoinPath(out, "LOCK"), ThisProcess());
  if (absl::IsFailedPrecondition(lock.status())) {
    return absl::FailedPreconditionError(absl::StrCat(
        flag, " belongs to another comparison: ", lock.status().message(),
        "; wait for its end, or give another directory"));
  }
  if (absl::IsResourceExhausted(lock.status())) {
    return std::unique_ptr<FileLock>();
  }
  if (!lock.ok()) return Annotate(lock.status(), flag);
  return lock;
}

PauseMeterOptions MeterOptions(const AskedComparison& asked,
                               const ComparisonRunOptions& run,
                               CellRunner* runner) {
  const std::string path = JoinPath(run.out, "pauses.json");
  PauseMeterOptions options;
  options.cores = asked.cores;
  options.pairs = MeterPairs(asked.flags);
  options.settings = run.settings;
  auto before = ReadPauseFile(*run.files, path);
  if (before.ok()) {
    options.before = *std::move(before);
  } else if (!absl::IsNotFound(before.status())) {
    run.say(absl::StrCat("what was measured of pauses before is not used, ",
                         path, ": ", before.status().message()));
  }
  options.keep = [path,
                  files = run.files](const std::vector<PausePair>& pairs) {
    return files->WriteFileAtomically(path, PauseFileJson(pairs));
  };
  options.run_cell = [runner](const Cell& cell, int repeat, double speed) {
    SummaryData data;
    return runner->Run(cell, repeat, speed, &data);
  };
  options.say = run.say;
  options.now = run.now;
  return options;
}

bool AnyRunIsGood(const Comparison& found) {
  for (const Cell& cell : found.cells) {
    for (const CellRun& run : cell.runs) {
      if (run.ok) return true;
    }
  }
  return false;
}

int LeastBatch(const std::vector<Cell>& cells) {
  int least = cells.front().batch_size;
  for (const Cell& cell : cells) least = std::min(least, cell.batch_size);
  return least;
}

// The comparison before its first run, with what is known of its models.
absl::Status Prepare(const AskedComparison& asked, const Args& args,
                     const FileSystem& files, ModelFacts* facts,
                     ComparisonRunOptions* options) {
  const std::string version = VersionText("shoal");
  options->comparison = ComparisonBefore(asked, args, version, files);
  const std::string common = CommonSettings(asked, version);
  for (const auto& [model, compared] : asked.models) {
    SHOAL_ASSIGN_OR_RETURN(ComparedModel known, facts->Of(model));
    known.distinct_ids = facts->IdGrowth(model, LeastBatch(asked.cells));
    options->comparison.models[model] = std::move(known);
    options->settings[model] =
        absl::StrCat(common, ModelSettings(model, compared));
  }
  for (Cell& cell : options->comparison.cells) {
    cell.formula = facts->Formula(cell, /*mean_batch=*/0);
  }
  return absl::OkStatus();
}

// Fills in what needs none of the comparison's parts.
void SetPlainOptions(const CompareFlags& flags, const FileSystem& files,
                     MainWait* wait, ComparisonRunOptions* options) {
  options->out = flags.out;
  options->order_seed = static_cast<uint64_t>(flags.order_seed);
  options->retries = flags.retries;
  options->check_dilation = flags.check_dilation;
  const bool timed = flags.cell_time > absl::ZeroDuration();
  options->first_guess =
      (timed ? flags.cell_time : absl::Minutes(1)) + absl::Seconds(5);
  options->files = &files;
  options->calibrate = [](const Comparison& found, const std::string& model,
                          int hosts) {
    // With the verdict's own hosts, so that the corrections of modes come from
    // the cells that it is about.
    return CalibrationOf(found, {model, hosts});
  };
  options->stopped = [wait] { return wait->CheckNotStopped(); };
  options->say = [](const std::string& line) {
    std::cerr << line << std::endl;
  };
}

// Writes the report and prints the verdicts, also of a comparison that was
// stopped. `status`: of its run.
ExitCode Conclude(const std::string& name, const std::string& out,
                  const Comparison& found, const FileSystem& files,
                  const absl::Status& status) {
  const std::string report = JoinPath(out, "report.html");
  const absl::Status reported = WriteReport(found, files, report);
  std::string text = VerdictText(found);
  if (reported.ok()) absl::StrAppend(&text, "Report: ", report, "\n");
  if (status.ok() || absl::IsCancelled(status)) {
    absl::StrAppend(&text, "All figures: ", JoinPath(out, "compare.json"),
                    "\n");
  }
  const ExitCode printed = PrintResult(name, text);
  if (absl::IsCancelled(status)) {
    return Complain(
        name,
        absl::CancelledError(absl::StrCat(
            status.message(), "; the same command goes on from ", out)),
        kExitStopped);
  }
  if (!status.ok()) return Complain(name, status, kExitFailed);
  if (!reported.ok()) return Complain(name, reported, kExitFailed);
  if (!AnyRunIsGood(found)) {
    return Complain(name, absl::AbortedError("every run failed"), kExitFailed);
  }
  return printed;
}

ExitCode Compare(const AskedComparison& asked, const Args& args,
                 const FileSystem& files, MainWait* wait) {
  const std::string name = "shoal bench compare";
  CellRunner runner(RunnerOptions(asked, &files));
  ModelFacts facts(FactsOptions(asked, &files));
  ComparisonRunOptions options;
  absl::Status ready = CheckAll(asked, runner, files);
  if (ready.ok()) ready = Prepare(asked, args, files, &facts, &options);
  if (!ready.ok()) return Complain(name, ready, kExitUsage);
  const auto lock = LockOut(files, asked.flags.out);
  if (!lock.ok()) return Complain(name, lock.status(), kExitUsage);
  SetPlainOptions(asked.flags, files, wait, &options);
  const std::string unused = UnusedFlagsText(asked);
  if (!unused.empty()) options.say(unused);
  const RealClock clock;
  options.now = [&clock] { return clock.Now(); };
  options.formula = [&facts](const Cell& cell, double mean_batch) {
    return facts.Formula(cell, mean_batch);
  };
  options.run_cell = [&runner](const Cell& cell, int repeat, double speed,
                               SummaryData* data) {
    return runner.Run(cell, repeat, speed, data);
  };
  CellRunner short_runner(MeterRunnerOptions(asked, &files));
  std::optional<PauseMeter> meter;
  if (asked.flags.lab && asked.flags.make_up_pauses) {
    meter.emplace(MeterOptions(asked, options, &short_runner));
    options.paused_speed = [&meter](const Cell& cell) {
      return meter->SpeedFor(cell);
    };
    options.pauses_ahead = [&meter](const std::vector<Cell>& cells) {
      return meter->TimeAhead(cells);
    };
  }
  const CollectiveRun collective(CollectiveOptions(
      asked, options, CommonSettings(asked, options.comparison.version)));
  if (asked.flags.allreduce) {
    options.add_collective = [&](bool measure, Comparison* found) {
      return collective.Add(measure, found);
    };
  }
  ComparisonRun run(std::move(options));
  const absl::Status status = run.Run();
  if (!run.has_begun()) {
    return Complain(
        name, status,
        absl::IsFailedPrecondition(status) ? kExitUsage : kExitFailed);
  }
  return Conclude(name, asked.flags.out, run.found(), files, status);
}

}  // namespace

int BenchCompareCommand(const Args& args) {
  MainWait wait;
  AskedComparison asked;
  FlagSet set = CompareFlagSet(&asked.flags);
  SplitArguments split = SplitByFlagSet(set, args);
  if (const auto exit = ParseOrExit(&set, split.own)) return *exit;
  FlagSet job_set = JobFlagSet(&asked.job);
  split.job.insert(split.job.begin(), "--print_config=false");
  if (const auto exit = ParseJobOrExit(&asked.job, &job_set, split.job)) {
    return *exit;
  }
  const std::unique_ptr<FileSystem> files = NewPosixFileSystem();
  const absl::Status status = CompleteAsked(set, job_set, *files, &asked);
  if (!status.ok()) return Complain(set.command(), status, kExitUsage);
  wait.Begin();
  return Compare(asked, args, *files, &wait);
}

}  // namespace shoal
