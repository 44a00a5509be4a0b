// shoal train: a whole job in this process, without a network. Commands that
// only score run their jobs here too.

#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/file_system.h"
#include "base/logger.h"
#include "base/status_macros.h"
#include "base/thread_executor.h"
#include "cmd/parse_command_line.h"
#include "cmd/subcommand.h"
#include "datatools/held_out_files.h"
#include "job/answer_signal.h"
#include "job/coordinator_part.h"
#include "job/data_sources.h"
#include "job/exit_code.h"
#include "job/in_process_job.h"
#include "job/leave_hung_disk.h"
#include "job/local_saves.h"
#include "job/main_wait.h"
#include "job/memory_forecast.h"
#include "job/options_from_flags.h"
#include "job/output_check.h"
#include "job/process_metrics.h"
#include "job/report_options.h"
#include "job/stop_text.h"
#include "job/to_main.h"
#include "job/training_mode.h"
#include "job/worker_compute.h"
#include "launch/job_flag_set.h"
#include "report/export_metrics.h"
#include "report/job_reporter.h"
#include "report/resume_text.h"

namespace shoal {
namespace {

absl::StatusOr<InProcessJobOptions> JobOptions(const JobFlags& flags,
                                               const JobPlan& plan,
                                               const FileSystem& files,
                                               Quarantine* quarantine,
                                               LineNumbers* line_numbers) {
  InProcessJobOptions options;
  SHOAL_ASSIGN_OR_RETURN(DataSources sources, SourcesFromFlags(files, flags));
  SHOAL_RETURN_IF_ERROR(CheckNotEmpty(flags, sources));
  SHOAL_RETURN_IF_ERROR(CheckOutputs(flags, sources));
  options.train = std::move(sources.train);
  options.eval = std::move(sources.eval);
  options.model = plan.model;
  options.partition = plan.partition;
  options.canary = flags.training.canary;
  options.ps = flags.cluster.ps;
  options.workers = flags.cluster.workers;
  options.backend = flags.training.backend;
  options.mode = &KindOf(flags.training.mode);
  options.ring = AllReduceSettingsFromFlags(flags);
  options.reader = PieceReaderOptionsFromFlags(flags, quarantine, line_numbers);
  options.ps_loop = PsLoopOptionsFromFlags(flags);
  options.worker_loop = WorkerLoopOptionsFromFlags(flags);
  SHOAL_ASSIGN_OR_RETURN(options.compute, WorkerComputeFromFlags(flags, files));
  SHOAL_RETURN_IF_ERROR(CheckReplay(options.compute, plan));
  return options;
}

// Waits for the end of the job and prints its progress. Stops the job at a
// signal, the second of which ends the process with `last_words`.
JobReport SeeThrough(const JobFlags& flags, InProcessJob* job,
                     const ToMain<JobReport>& final_report, const Clock& clock,
                     absl::FunctionRef<std::string()> last_words,
                     Logger* logger, JobReporter* reporter, MainWait* wait) {
  for (;;) {
    if (auto report = final_report.Get()) return *std::move(report);
    const std::optional<absl::Status> reason =
        AnswerSignal(wait->Wait(reporter->interval()), /*name=*/"",
                     StopText(flags), last_words, logger);
    // If the job saves no checkpoints, this is a plain stop.
    if (reason.has_value()) job->SaveAndStop(*reason);
    reporter->Progress(job->Report(), clock.Now());
  }
}

// Reports the end of the job. Returns the exit code.
ExitCode Verdict(const std::string& name, const JobReport& report,
                 JobReporter* reporter, absl::Time now) {
  const absl::Status told = reporter->End(report, now);
  if (!told.ok()) Complain(name, told, kExitFailed);
  if (report.status.ok()) return told.ok() ? kExitOk : kExitFailed;
  const absl::Status status =
      WithLastWords(report.status, ResumeText(report));
  if (absl::IsCancelled(status)) return Complain(name, status, kExitStopped);
  return Complain(name, Annotate(status, "the job failed"), kExitFailed);
}

// The threads of the job.
struct Strands {
  Strands(const Clock* clock, int workers)
      : control({"control", 1}, clock),
        completions({"completions", 1}, clock),
        background({"checkpoints", 1}, clock),
        work({"work", 1}, clock) {
    for (int i = 0; i < workers; ++i) {
      train.push_back(std::make_unique<ThreadExecutor>(
          ThreadExecutorOptions{absl::StrCat("train ", i), 1}, clock));
    }
  }

  // Runs all tasks that are still queued, and ends the threads.
  void Shutdown() {
    for (const auto& strand : train) strand->Shutdown();
    background.Shutdown();
    completions.Shutdown();
    work.Shutdown();
    control.Shutdown();
  }

  ThreadExecutor control;
  ThreadExecutor completions;
  ThreadExecutor background;
  ThreadExecutor work;
  std::vector<std::unique_ptr<ThreadExecutor>> train;  // by worker
};

ExitCode Run(const JobFlags& flags, const JobPlan& plan, MainWait* wait) {
  const std::string name = CommandName(flags.command);
  Logger logger(LoggerOptionsFromFlags(flags, ""));
  const std::unique_ptr<FileSystem> files = NewPosixFileSystem();
  const auto quarantine = QuarantineFromFlags(flags, files.get(), 0, &logger);
  if (!quarantine.ok()) return Complain(name, quarantine.status(), kExitUsage);
  LineNumbers line_numbers(files.get());
  auto options =
      JobOptions(flags, plan, *files, quarantine->get(), &line_numbers);
  if (!options.ok()) return Complain(name, options.status(), kExitUsage);
  const std::string warning = HeldOutFilesWarning(*files, options->train);
  if (!warning.empty()) logger.Warn(warning);
  const absl::Status fits = ForecastAndCheck(flags, plan, *files);
  if (!fits.ok()) return Complain(name, fits, kExitUsage);
  wait->Begin();
  RealClock clock;
  auto lead = TakeLead(files.get(), flags, plan, &logger, clock.Now());
  if (!lead.ok()) return Complain(name, lead.status(), kExitUsage);
  options->coordinator = lead->options;

  JobReporter reporter(JobReporterOptionsFromFlags(flags, files.get()),
                       files.get());
  Telemetry telemetry;
  ExportProcess(&telemetry, name, plan.job);
  ToMain<JobReport> final_report(wait);
  Strands strands(&clock, flags.cluster.workers);
  InProcessJobDependencies deps;
  deps.file_system = files.get();
  deps.logger = &logger;
  deps.control = &strands.control;
  deps.completions = &strands.completions;
  deps.background = &strands.background;
  deps.work = WorkOfLead(*lead, flags, files.get(), &strands.work,
                         &strands.background, &logger);
  for (const auto& strand : strands.train) deps.train.push_back(strand.get());
  if (flags.monitoring.metrics_port != 0) deps.telemetry = &telemetry;
  auto job = InProcessJob::Create(*std::move(options), std::move(deps));
  if (!job.ok()) return Complain(name, job.status(), kExitUsage);
  // Ends before the job, since the server's metrics read the job.
  auto metrics = StartMetricsServer(flags, &telemetry);
  if (!metrics.ok()) return Complain(name, metrics.status(), kExitUsage);
  const absl::Status started = reporter.Start(clock.Now());
  if (!started.ok()) return Complain(name, started, kExitUsage);
  if (lead->lock != nullptr) lead->lock->Keep();
  auto local_saves = LocalSaves::Open(InProcessJob::kJob, lead->lock.get(),
                                      (*job)->cluster(), &strands.completions,
                                      &logger);
  (*job)->Start([&final_report](JobReport report) {
    final_report.Tell(std::move(report));
  });

  const auto last_words = [&] {
    if (local_saves != nullptr) local_saves->RemoveFiles();
    return ResumeText((*job)->Report());
  };
  const JobReport report = SeeThrough(flags, job->get(), final_report, clock,
                                      last_words, &logger, &reporter, wait);
  wait->QuitOnInterrupt();
  local_saves = nullptr;
  const ExitCode code = Verdict(name, report, &reporter, clock.Now());
  LeaveHungDisk(&strands.background, flags.deadlines.shutdown_timeout, code,
                &logger);
  // Tasks that are still queued may refer to the job.
  strands.Shutdown();
  return code;
}

}  // namespace

ExitCode RunInOneProcess(const JobFlags& flags, const JobPlan& plan,
                         MainWait* wait) {
  return Run(flags, plan, wait);
}

int TrainCommand(const Args& args) {
  MainWait wait;
  JobFlags flags(Command::kTrain);
  FlagSet set = JobFlagSet(&flags);
  if (const auto exit = ParseJobOrExit(&flags, &set, args)) return *exit;
  const absl::StatusOr<JobPlan> plan = PlanJob(flags);
  if (!plan.ok()) return Complain(set.command(), plan.status(), kExitUsage);
  return Run(flags, *plan, &wait);
}

}  // namespace shoal
