// shoal run: a whole job of processes on this host.

#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/file_system.h"
#include "base/status_macros.h"
#include "cmd/best_possible_auc.h"
#include "cmd/exit_code.h"
#include "cmd/job_summary.h"
#include "cmd/launched_job.h"
#include "cmd/live_output.h"
#include "cmd/options_from_flags.h"
#include "cmd/parse_command_line.h"
#include "cmd/subcommand.h"
#include "cmd/temporary_token.h"
#include "launch/free_ports.h"
#include "launch/job_flag_set.h"
#include "worker/data/source_list.h"

namespace shoal {
namespace {

// The program `name` that lies beside this one.
absl::StatusOr<std::string> Sibling(const std::string& name) {
  std::error_code error;
  const std::filesystem::path self =
      std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    return absl::InternalError(
        absl::StrCat("cannot find my own program: ", error.message()));
  }
  const std::string path = (self.parent_path() / name).string();
  if (access(path.c_str(), X_OK) != 0) {
    return absl::NotFoundError(
        absl::StrCat(path, " is not there; it belongs beside ", self.string()));
  }
  return path;
}

// Complains about missing data before any process is started.
absl::Status CheckFiles(const FileSystem& files, const JobFlags& flags) {
  const DataFormat format = DataFormatFromFlags(flags);
  SHOAL_RETURN_IF_ERROR(
      Annotate(ListSources(&files, flags.training_data_dir, format).status(),
               "--training_data_dir"));
  if (flags.val_data_dir.empty()) return absl::OkStatus();
  return Annotate(ListSources(&files, flags.val_data_dir, format).status(),
                  "--val_data_dir");
}

// The command lines of all processes.
absl::StatusOr<LaunchedJobOptions> PlanProcesses(const JobFlags& flags,
                                                 const FlagSet& set,
                                                 const std::string& token) {
  SHOAL_ASSIGN_OR_RETURN(const std::string ps_program, Sibling("shoal-ps"));
  SHOAL_ASSIGN_OR_RETURN(const std::string worker_program,
                         Sibling("shoal-worker"));
  SHOAL_ASSIGN_OR_RETURN(const std::vector<int> ports, PickFreePorts(flags.ps));
  const std::vector<std::string> common = {
      absl::StrCat("--ps_hosts=", absl::StrJoin(ports, ",",
                                                [](std::string* out, int port) {
                                                  absl::StrAppend(
                                                      out, "127.0.0.1:", port);
                                                })),
      absl::StrCat(
          "--worker_hosts=",
          absl::StrJoin(std::vector<std::string>(flags.workers, "127.0.0.1"),
                        ",")),
      absl::StrCat("--token_file=", token),
      "--print_config=false",
  };
  // The command line of one process, which takes what we were given and it
  // knows.
  auto command_line = [&](Command command, const std::string& program,
                          int index) {
    JobFlags child(command);
    const FlagSet child_set = JobFlagSet(&child);
    std::vector<std::string> argv = {program};
    for (std::string& arg : set.GivenFor(child_set)) {
      if (!absl::StartsWith(arg, "--print_config=")) {
        argv.push_back(std::move(arg));
      }
    }
    argv.insert(argv.end(), common.begin(), common.end());
    argv.push_back(absl::StrCat("--task_index=", index));
    if (command == Command::kPs) argv.push_back("--progress=json");
    return argv;
  };

  LaunchedJobOptions options;
  for (int i = 0; i < flags.ps; ++i) {
    options.ps.push_back(command_line(Command::kPs, ps_program, i));
  }
  for (int i = 0; i < flags.workers; ++i) {
    options.workers.push_back(
        command_line(Command::kWorker, worker_program, i));
  }
  options.max_restarts = flags.max_restarts;
  options.shutdown_timeout =
      flags.shutdown_timeout +
      (flags.Saves() ? flags.stop_timeout : absl::ZeroDuration());
  options.ending_timeout = flags.linger + flags.shutdown_timeout;
  return options;
}

// PS 0 writes the summary, if it lives to do so.
void WriteSummaryInItsPlace(const FileSystem& files, const JobFlags& flags,
                            const absl::Status& status) {
  JobReport report;
  report.finished = true;
  report.status = status;
  const absl::Status written =
      files.WriteFileAtomically(flags.summary, SummaryJson(flags, report));
  if (!written.ok()) Complain("shoal run", written, kExitFailed);
}

}  // namespace

int RunCommand(const Args& args) {
  JobFlags flags(Command::kRun);
  FlagSet set = JobFlagSet(&flags);
  if (const auto exit = ParseJobOrExit(&flags, &set, args)) return *exit;
  const std::string name = set.command();
  const absl::StatusOr<JobPlan> plan = PlanJob(flags, "");
  if (!plan.ok()) return Complain(name, plan.status(), kExitUsage);
  const std::unique_ptr<FileSystem> files = NewPosixFileSystem();
  const absl::Status there = CheckFiles(*files, flags);
  if (!there.ok()) return Complain(name, there, kExitUsage);

  auto token = TemporaryToken::Create();
  if (!token.ok()) return Complain(name, token.status(), kExitFailed);
  auto processes = PlanProcesses(flags, set, (*token)->path());
  if (!processes.ok()) return Complain(name, processes.status(), kExitFailed);

  LiveOutputOptions live = LiveOutputOptionsFor(STDERR_FILENO);
  live.print_every = flags.progress_every;
  LiveOutput output(live);
  const LaunchedJobEnd end = LaunchedJob(*std::move(processes), &output).Run();

  for (const std::string& line : end.lines) std::cout << line << "\n";
  const std::string best = BestPossibleAucLine(*files, flags.val_data_dir);
  if (!best.empty() && end.status.ok()) std::cout << best << "\n";
  std::cout << std::flush;
  if (end.lines.empty() && !flags.summary.empty()) {
    WriteSummaryInItsPlace(*files, flags, end.status);
  }
  if (end.status.ok()) return kExitOk;
  Complain(name, Annotate(end.status, "the job failed"), kExitFailed);
  return absl::IsCancelled(end.status) ? kExitStopped : kExitFailed;
}

}  // namespace shoal
