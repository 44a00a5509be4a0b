// shoal run: a whole job of processes on this host.

#include <unistd.h>

#include <iostream>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/file_system.h"
#include "base/output_path.h"
#include "base/status_macros.h"
#include "checkpoint/checkpoint_directory.h"
#include "cmd/parse_command_line.h"
#include "cmd/subcommand.h"
#include "datatools/best_possible_auc.h"
#include "job/data_sources.h"
#include "job/exit_code.h"
#include "job/launched_job.h"
#include "job/main_wait.h"
#include "job/memory_forecast.h"
#include "job/options_from_flags.h"
#include "job/plan_processes.h"
#include "job/report_options.h"
#include "job/temporary_token.h"
#include "launch/job_flag_set.h"
#include "report/job_summary.h"
#include "report/live_output.h"
#include "report/resume_text.h"
#include "rpc/token.h"

namespace shoal {
namespace {

// Complains about missing data before any process is started.
absl::Status CheckFiles(const FileSystem& files, const JobFlags& flags) {
  SHOAL_ASSIGN_OR_RETURN(const DataSources sources,
                         SourcesFromFlags(files, flags));
  return CheckNotEmpty(flags, sources);
}

// All processes on this host. `token_file` lives as long as the job. `wait`
// begins before there is such a file.
absl::StatusOr<LaunchedJobOptions> PrepareHere(
    const JobFlags& flags, const FlagSet& set, const JobPlan& plan,
    const FileSystem& files, MainWait* wait,
    std::unique_ptr<TemporaryToken>* token_file) {
  SHOAL_RETURN_IF_ERROR(ForecastAndCheck(flags, plan, files));
  wait->Begin();
  SHOAL_ASSIGN_OR_RETURN(*token_file, TemporaryToken::Create());
  return PlanLocalProcesses(flags, set, (*token_file)->path());
}

// All processes on other hosts, which check data and memory themselves.
absl::StatusOr<LaunchedJobOptions> PrepareHosts(const JobFlags& flags,
                                                const FlagSet& set,
                                                MainWait* wait) {
  SHOAL_RETURN_IF_ERROR(CheckRemoteHosts(flags));
  wait->Begin();
  SHOAL_ASSIGN_OR_RETURN(const std::string token, MakeToken());
  return PlanRemoteProcesses(flags, set, token);
}

// The last words of a job whose PS 0 ended before it could say them.
std::string ResumeTextInItsPlace(const FileSystem& files,
                                 const JobFlags& flags) {
  const std::string& model_dir = flags.checkpoints.model_dir;
  if (!flags.training.Trains()) return "";
  const bool resumes =
      flags.checkpoints.resume != CheckpointFlags::Resume::kNever;
  if (model_dir.empty()) return ResumeText("", 0, "", resumes);
  const bool here = flags.cluster.hosts.empty();
  const auto newest = NewestCheckpoint(files, model_dir, here);
  if (newest.ok()) {
    return ResumeText(newest->path, newest->step, model_dir, resumes);
  }
  if (!here) {
    return absl::StrCat("`shoal ckpt ls ", model_dir,
                        "` on the hosts lists the checkpoints");
  }
  return absl::IsNotFound(newest.status())
             ? ResumeText("", 0, model_dir, resumes)
             : std::string(newest.status().message());
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

}  // namespace

int RunCommand(const Args& args) {
  MainWait wait;
  JobFlags flags(Command::kRun);
  FlagSet set = JobFlagSet(&flags);
  if (const auto exit = ParseJobOrExit(&flags, &set, args)) return *exit;
  const std::string name = set.command();
  const absl::StatusOr<JobPlan> plan = PlanJob(flags);
  if (!plan.ok()) return Complain(name, plan.status(), kExitUsage);
  const std::unique_ptr<FileSystem> files = NewPosixFileSystem();
  if (!flags.cluster.hosts.empty() &&
      (set.given("ps") || set.given("workers"))) {
    return Complain(name,
                    absl::InvalidArgumentError(
                        "--hosts starts one parameter server and one worker on "
                        "each host: leave --ps and --workers out"),
                    kExitUsage);
  }

  if (flags.cluster.hosts.empty()) {
    const absl::Status there = CheckFiles(*files, flags);
    if (!there.ok()) return Complain(name, there, kExitUsage);
  }
  std::unique_ptr<TemporaryToken> token_file;
  auto processes = flags.cluster.hosts.empty()
                       ? PrepareHere(flags, set, *plan, *files, &wait,
                                     &token_file)
                       : PrepareHosts(flags, set, &wait);
  if (!processes.ok()) {
    // Another host may be back soon; an error of this host is here to stay.
    const ExitCode code = absl::IsCancelled(processes.status()) ? kExitStopped
                          : flags.cluster.hosts.empty()         ? kExitUsage
                                                                : kExitFailed;
    return Complain(name, processes.status(), code);
  }

  LiveOutputOptions live = LiveOutputOptionsFor(STDERR_FILENO);
  live.print_every = flags.output.progress_every;
  LiveOutput output(live);
  const absl::Time start = RealClock().Now();
  const LaunchedJobEnd end = LaunchedJob(*std::move(processes), &output).Run();
  token_file = nullptr;
  // What is left may take long, as on a disk that hangs.
  wait.QuitOnInterrupt(end.interrupted);

  for (const std::string& line : end.lines) std::cout << line << "\n";
  // The line belongs beside the AUC of an evaluation.
  const std::string best =
      flags.training.Infers() || !end.status.ok()
          ? ""
          : BestPossibleAucLine(*files, flags.data.val_data_dir);
  if (!best.empty()) std::cout << best << "\n";
  const std::string resume =
      end.told ? end.resume : ResumeTextInItsPlace(*files, flags);
  if (!resume.empty() && end.status.ok()) std::cout << resume << "\n";
  std::cout << std::flush;
  // With --hosts another host writes the summary.
  if (!end.told && !flags.output.summary.empty() &&
      flags.cluster.hosts.empty()) {
    WriteSummaryInItsPlace(*files, flags, start, end.status);
  }
  if (end.status.ok()) return kExitOk;
  const absl::Status status = end.exit_code == kExitUsage
                                  ? end.status
                                  : WithLastWords(end.status, resume);
  return Complain(name,
                  end.exit_code == kExitStopped
                      ? status
                      : Annotate(status, "the job failed"),
                  end.exit_code);
}

}  // namespace shoal
