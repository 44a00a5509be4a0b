#include "bench/compare/cell_launcher.h"

#include <fcntl.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/host_memory.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "bench/compare/dilation.h"
#include "job/job_plan.h"
#include "job/memory_forecast.h"
#include "job/options_from_flags.h"
#include "job/plan_processes.h"
#include "report/live_output.h"
#include "rpc/token.h"

namespace shoal {
namespace {

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

absl::StatusOr<std::unique_ptr<Lab>> CellLauncher::LabOf(
    const Cell& cell, double paused_speed) const {
  if (options_.where != "lab") return nullptr;
  return Lab::Make(SharesOf(cell, paused_speed, options_.cores));
}

std::string CellLauncher::HostsOf(const Cell& cell, const Lab* lab) const {
  if (lab != nullptr) return lab->Hosts();
  if (options_.where != "hosts") return "";
  const auto first = options_.on.begin();
  return absl::StrJoin(first, first + cell.hosts, ",");
}

absl::StatusOr<std::unique_ptr<ParsedJob>> CellLauncher::Plan(
    const Cell& cell, const CellPlace& place) const {
  return ParseFlags(
      FlagsOfCell(cell, options_.job.at(cell.model), options_.deadlines, place),
      *options_.files);
}

absl::Status CellLauncher::CheckRoom(const Cell& cell, CellPlace place) const {
  if (options_.where == "hosts") return absl::OkStatus();
  place.hosts = "";
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<ParsedJob> parsed,
                         Plan(cell, place));
  if (!parsed->flags.monitoring.memory_check) return absl::OkStatus();
  SHOAL_ASSIGN_OR_RETURN(const JobPlan plan, PlanJob(parsed->flags));
  const HostMemory memory = ReadHostMemory();
  return CheckMemory(
      ForecastHost(parsed->flags, plan,
                   MeasureData(*options_.files, parsed->flags), memory),
      memory);
}

absl::StatusOr<LaunchedJobEnd> CellLauncher::Run(
    const Cell& cell, double paused_speed, ParsedJob* parsed, Lab* lab,
    const std::string& name,
    absl::FunctionRef<bool(const ProgressFigures&)> enough) const {
  SHOAL_ASSIGN_OR_RETURN(LaunchedJobOptions job,
                         PlanStart(cell, paused_speed, parsed, lab));
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
  auto end = Launch(std::move(job), name);
  SHOAL_RETURN_IF_ERROR(limits);
  return end;
}

absl::StatusOr<LaunchedJobOptions> CellLauncher::PlanStart(
    const Cell& cell, double paused_speed, ParsedJob* parsed,
    const Lab* lab) const {
  if (lab == nullptr && options_.where != "hosts") {
    SHOAL_ASSIGN_OR_RETURN(parsed->token, TemporaryToken::Create());
    return PlanLocalProcesses(parsed->flags, parsed->set,
                              parsed->token->path());
  }
  SHOAL_ASSIGN_OR_RETURN(const std::string token, MakeToken());
  if (lab == nullptr) {
    return PlanRemoteProcesses(parsed->flags, parsed->set, token);
  }
  const HostCommand on_host = lab->Command();
  return PlanProcessesOnHosts(
      parsed->flags, parsed->set, token,
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

absl::StatusOr<LaunchedJobEnd> CellLauncher::Launch(
    LaunchedJobOptions options, const std::string& name) const {
  const LogFile file(
      JoinPath(JoinPath(options_.out, "logs"), absl::StrCat(name, ".log")));
  LiveOutput output(file.options());
  LaunchedJobEnd end = LaunchedJob(std::move(options), &output).Run();
  if (end.status.ok() || end.stopped_as_planned) return end;
  if (absl::IsCancelled(end.status)) return end.status;
  return absl::AbortedError(absl::StrCat(end.status.message()));
}

}  // namespace shoal
