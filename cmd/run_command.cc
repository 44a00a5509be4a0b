// shoal run: a whole job of processes on this host.

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/counted.h"
#include "base/file_system.h"
#include "base/json_writer.h"
#include "base/output_path.h"
#include "base/status_macros.h"
#include "checkpoint/checkpoint_directory.h"
#include "cmd/own_terminal.h"
#include "cmd/parse_command_line.h"
#include "cmd/subcommand.h"
#include "datatools/best_possible_auc.h"
#include "job/data_sources.h"
#include "job/exit_code.h"
#include "job/launched_job.h"
#include "job/lost_exit.h"
#include "job/main_wait.h"
#include "job/memory_forecast.h"
#include "job/options_from_flags.h"
#include "job/output_check.h"
#include "job/plan_processes.h"
#include "job/report_options.h"
#include "job/restarting_job.h"
#include "job/running_job.h"
#include "job/temporary_token.h"
#include "job/worker_compute.h"
#include "launch/environment/rank_environment.h"
#include "launch/job_flag_set.h"
#include "launch/ssh_command.h"
#include "report/job_summary.h"
#include "report/live_output.h"
#include "report/resume_text.h"
#include "rpc/token.h"

namespace shoal {
namespace {

// Time before a job starts again on other hosts. Processes of the start before,
// which a broken connection or a killed ssh has left there, hold ports and
// locks until they end by themselves.
constexpr absl::Duration kHostsPause = absl::Seconds(10);

// Complains about missing data, about a profile that is not of the job, and
// about outputs that would replace data, before any process is started.
absl::Status CheckFiles(const FileSystem& files, const JobFlags& flags,
                        const JobPlan& plan) {
  SHOAL_ASSIGN_OR_RETURN(const DataSources sources,
                         SourcesFromFlags(files, flags));
  SHOAL_RETURN_IF_ERROR(CheckNotEmpty(flags, sources));
  SHOAL_ASSIGN_OR_RETURN(const WorkerComputeOptions compute,
                         WorkerComputeFromFlags(flags, files));
  SHOAL_RETURN_IF_ERROR(CheckReplay(compute, plan));
  return CheckOutputs(flags, sources);
}

// Prepares the processes of this host. `token_file` lives as long as the job.
// `wait` begins before there is such a file.
absl::Status PrepareHere(const JobFlags& flags, const JobPlan& plan,
                         const FileSystem& files, MainWait* wait,
                         std::unique_ptr<TemporaryToken>* token_file) {
  SHOAL_RETURN_IF_ERROR(ForecastAndCheck(flags, plan, files));
  wait->Begin();
  SHOAL_ASSIGN_OR_RETURN(*token_file, TemporaryToken::Create());
  return absl::OkStatus();
}

// "8 workers: h1 4, h2 4"; for --hosts with another number than one on each.
absl::StatusOr<std::string> WorkersByHost(const ClusterFlags& cluster) {
  SHOAL_ASSIGN_OR_RETURN(
      const std::vector<RemoteHost> hosts,
      ParseRemoteHosts(cluster.hosts, cluster.worker_per_host));
  return absl::StrCat(
      Counted(static_cast<uint64_t>(cluster.workers), "worker"), ": ",
      absl::StrJoin(hosts, ", ", [](std::string* out, const RemoteHost& host) {
        absl::StrAppend(out, host.address, " ", host.workers);
      }));
}

// All processes are on other hosts, which check data and memory themselves.
absl::Status PrepareHosts(const JobFlags& flags, MainWait* wait) {
  if (flags.cluster.workers != flags.cluster.ps) {
    SHOAL_ASSIGN_OR_RETURN(const std::string workers,
                           WorkersByHost(flags.cluster));
    std::cerr << workers << std::endl;
  }
  SHOAL_RETURN_IF_ERROR(CheckRemoteHosts(flags));
  wait->Begin();
  return absl::OkStatus();
}

// Waits for --start_timeout at most until all hosts answer: a host whose end
// was the end of a job may be back soon. CANCELLED after a signal.
absl::Status WaitForHosts(const JobFlags& flags, MainWait* wait) {
  const RealClock clock;
  const absl::Time give_up = clock.Now() + flags.deadlines.start_timeout;
  for (;;) {
    const absl::Status there = CheckRemoteHosts(flags);
    if (!absl::IsUnavailable(there) || clock.Now() >= give_up) return there;
    const MainWait::Event event = wait->Wait(absl::Seconds(1));
    if (event.action != StopSignals::Action::kNone) {
      return absl::CancelledError(
          absl::StrCat("stopped by SIG", sigabbrev_np(event.signal)));
    }
  }
}

// Plans a start of the job; `again`: another one began before; `led`: its
// leader has reported figures. Each start on other hosts has a token of its
// own, since processes of the start before may still run there.
absl::StatusOr<LaunchedJobOptions> PlanStart(JobFlags* flags,
                                             const FlagSet& set,
                                             const TemporaryToken* token_file,
                                             bool again, bool led,
                                             MainWait* wait) {
  using Resume = CheckpointFlags::Resume;
  const bool here = flags->cluster.hosts.empty();
  if (again && !here) SHOAL_RETURN_IF_ERROR(WaitForHosts(*flags, wait));
  absl::StatusOr<std::string> token = "";
  if (!here) token = MakeToken();
  SHOAL_RETURN_IF_ERROR(token.status());
  // A leader reports figures once it has checked that the model directory of a
  // training with --resume=never is empty: all checkpoints in it are of this
  // run.
  Resume* const resume = &flags->checkpoints.resume;
  const Resume asked = *resume;
  if (led && flags->Saves() && asked == Resume::kNever) {
    *resume = Resume::kAuto;
  }
  auto planned = here ? PlanLocalProcesses(*flags, set, token_file->path())
                      : PlanRemoteProcesses(*flags, set, *token);
  *resume = asked;
  return planned;
}

// The newest checkpoint: on this host's disk or, if the job runs on other
// hosts, the checkpoint that the leader has reported in `figures`, if any.
absl::StatusOr<KnownCheckpoint> NewestKnown(const FileSystem& files,
                                            const JobFlags& flags,
                                            const ProgressFigures& figures) {
  const bool here = flags.cluster.hosts.empty();
  if (!here && !figures.checkpoint.empty()) {
    return KnownCheckpoint{figures.checkpoint, figures.checkpoint_step};
  }
  SHOAL_ASSIGN_OR_RETURN(
      const CheckpointInfo newest,
      NewestCheckpoint(files, flags.checkpoints.model_dir, here));
  return KnownCheckpoint{newest.path, newest.step};
}

// What the same command would meet after this end.
SameCommand NextOf(const LaunchedJobEnd& end) {
  if (end.status.ok()) return SameCommand::kIsDone;
  return end.fails_again ? SameCommand::kFailsAgain : SameCommand::kGoesOn;
}

// The last words of a job whose PS 0 ended before it could say them.
std::string ResumeTextInItsPlace(const FileSystem& files, const JobFlags& flags,
                                 const LaunchedJobEnd& end) {
  const std::string& model_dir = flags.checkpoints.model_dir;
  if (!flags.training.Trains()) return "";
  ResumeFacts facts;
  facts.model_dir = model_dir;
  facts.resumes = flags.checkpoints.resume != CheckpointFlags::Resume::kNever;
  if (model_dir.empty()) return ResumeText(facts, NextOf(end));
  const auto newest = NewestKnown(files, flags, end.figures);
  if (newest.ok()) {
    facts.checkpoint = newest->path;
    facts.step = newest->step;
    return ResumeText(facts, NextOf(end));
  }
  if (!flags.cluster.hosts.empty()) {
    return absl::StrCat("`shoal ckpt ls ", model_dir,
                        "` on the hosts lists the checkpoints");
  }
  if (!absl::IsNotFound(newest.status())) {
    return std::string(newest.status().message());
  }
  facts.unfinished = UnfinishedSave(files, model_dir);
  return ResumeText(facts, NextOf(end));
}

// Writes the summary if PS 0 ended before it could.
void WriteSummaryInItsPlace(const FileSystem& files, const JobFlags& flags,
                            absl::Time start, const absl::Status& status) {
  JobFacts facts = JobFactsFromFlags(flags);
  facts.start = start;
  JobReport report;
  report.finished = true;
  report.status = status;
  const absl::Status written =
      WriteOutput(files, flags.output.summary,
                  SummaryJson(facts, report));
  if (!written.ok()) Complain("shoal run", written, kExitFailed);
}

// The job's last words.
std::string LastWords(const FileSystem& files, const JobFlags& flags,
                      const RestartingJobEnd& run) {
  // A later start does not know of --resume=never.
  const bool knows =
      run.restarts == 0 ||
      flags.checkpoints.resume != CheckpointFlags::Resume::kNever;
  return run.last.told && knows
             ? run.last.resume
             : ResumeTextInItsPlace(files, flags, run.last);
}

// Prints the results of the job, which began at `start`, on stdout, and its
// error on stderr. Returns the exit code.
ExitCode Conclude(const FileSystem& files, const JobFlags& flags,
                  const std::string& name, absl::Time start,
                  const RestartingJobEnd& run) {
  const LaunchedJobEnd& end = run.last;
  std::string text;
  for (const std::string& line : end.lines) {
    absl::StrAppend(&text, line, "\n");
  }
  if (run.restarts > 0) {
    absl::StrAppend(&text, "started again ", Counted(run.restarts, "time"));
    if (flags.training.Trains()) {
      absl::StrAppend(&text, "; about ", run.steps_again,
                      " batches were trained twice");
    }
    absl::StrAppend(&text, "\n");
  }
  // The line belongs beside the AUC of an evaluation.
  const std::string best =
      flags.training.Infers() || !end.status.ok()
          ? ""
          : BestPossibleAucLine(files, flags.data.val_data_dir);
  if (!best.empty()) absl::StrAppend(&text, best, "\n");
  const std::string resume = LastWords(files, flags, run);
  if (!resume.empty() && end.status.ok()) {
    absl::StrAppend(&text, resume, "\n");
  }
  const ExitCode printed = PrintResult(name, text);
  const bool here = flags.cluster.hosts.empty();
  absl::Status written;
  if (!flags.output.summary.empty()) {
    if (here && !end.told) {
      WriteSummaryInItsPlace(files, flags, start, end.status);
    } else if (!here && !end.summary.empty()) {
      // The leader has written the file on its own host.
      written = WriteOutput(files, flags.output.summary,
                            absl::StrCat(IndentJson(end.summary), "\n"));
    }
  }
  if (end.status.ok()) {
    return written.ok() ? printed : Complain(name, written, kExitFailed);
  }
  if (!written.ok()) Complain(name, written, kExitFailed);
  const absl::Status status = end.exit_code == kExitUsage
                                  ? end.status
                                  : WithLastWords(end.status, resume);
  return Complain(name,
                  end.exit_code == kExitStopped
                      ? status
                      : Annotate(status, "the job failed"),
                  end.lost ? LostExit(flags) : end.exit_code);
}

}  // namespace

int RunCommand(const Args& args) {
  MainWait wait;
  JobFlags flags(Command::kRun);
  FlagSet set = JobFlagSet(&flags);
  if (const auto exit = ParseJobOrExit(&flags, &set, args)) return *exit;
  // The processes of this job have places of their own in it, and not the place
  // of this process among those of another launcher.
  for (const std::string& name : RankVariables()) unsetenv(name.c_str());
  const std::string name = set.command();
  const absl::StatusOr<JobPlan> plan = PlanJob(flags);
  if (!plan.ok()) return Complain(name, plan.status(), kExitUsage);
  const std::unique_ptr<FileSystem> files = NewPosixFileSystem();
  const bool here = flags.cluster.hosts.empty();
  if (!here && set.given("ps")) {
    return Complain(name,
                    absl::InvalidArgumentError(
                        "--hosts starts one parameter server and "
                        "--worker_per_host workers on each host: leave --ps "
                        "out"),
                    kExitUsage);
  }
  if (here) {
    const absl::Status there = CheckFiles(*files, flags, *plan);
    if (!there.ok()) return Complain(name, there, kExitUsage);
  }
  std::unique_ptr<TemporaryToken> token_file;
  const absl::Status prepared =
      here ? PrepareHere(flags, *plan, *files, &wait, &token_file)
           : PrepareHosts(flags, &wait);
  // Another host may be back soon; an error of this host is here to stay.
  const ExitCode unprepared = here ? kExitUsage : kExitFailed;
  if (!prepared.ok()) {
    return Complain(name, prepared,
                    absl::IsCancelled(prepared) ? kExitStopped : unprepared);
  }

  RestartingJobOptions options;
  options.max_restarts = flags.cluster.MaxJobRestarts(flags);
  if (!here) options.pause = kHostsPause;
  bool led = false;
  options.plan = [&, starts = 0]() mutable {
    return PlanStart(&flags, set, token_file.get(), starts++ > 0, led, &wait);
  };
  options.newest =
      [&](const ProgressFigures& figures) -> std::optional<KnownCheckpoint> {
    led = led || figures.wall_seconds > 0;
    if (flags.checkpoints.model_dir.empty()) return std::nullopt;
    auto newest = NewestKnown(*files, flags, figures);
    if (!newest.ok()) return std::nullopt;
    return *std::move(newest);
  };
  LiveOutput output(LiveOutputOptionsFromFlags(flags));
  const absl::Time start = RealClock().Now();
  const auto run = RunWithRestarts(std::move(options), &wait, &output);
  if (!run.ok()) return Complain(name, run.status(), unprepared);
  token_file = nullptr;
  if (here && !flags.checkpoints.model_dir.empty()) {
    RemoveSocketOfKilledJob(*files, flags.checkpoints.model_dir);
  }
  // What is left may take long, as on a disk that hangs.
  wait.QuitOnInterrupt(run->last.interrupted);
  return Conclude(*files, flags, name, start, *run);
}

}  // namespace shoal
