#include "job/plan_processes.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "job/stop_text.h"
#include "launch/free_ports.h"
#include "launch/job_flag_set.h"
#include "launch/process_launcher.h"

namespace shoal {
namespace {

// Time that ssh gets in addition to the time of the remote process.
constexpr absl::Duration kSshGrace = absl::Seconds(3);

absl::StatusOr<std::filesystem::path> OwnDirectory() {
  std::error_code error;
  const std::filesystem::path self =
      std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    return absl::InternalError(absl::StrCat(
        "cannot find the path of this program: ", error.message()));
  }
  return self.parent_path();
}

// The program `name` that lies beside this one.
absl::StatusOr<std::string> Sibling(const std::string& name) {
  SHOAL_ASSIGN_OR_RETURN(const std::filesystem::path directory, OwnDirectory());
  const std::string path = (directory / name).string();
  if (access(path.c_str(), X_OK) != 0) {
    return absl::NotFoundError(
        absl::StrCat(path, " is not there; it belongs into the directory of ",
                     directory.string(), "/shoal"));
  }
  return path;
}

absl::StatusOr<std::string> RemoteDirectory(const JobFlags& flags) {
  if (!flags.cluster.remote_bin.empty()) return flags.cluster.remote_bin;
  SHOAL_ASSIGN_OR_RETURN(const std::filesystem::path directory, OwnDirectory());
  return directory.string();
}

// Flags that all processes of a job have in common.
struct JobPlaces {
  std::string ps_hosts;  // empty: each worker holds all variables
  std::string worker_hosts;
  std::string token_file;
  bool full_time = true;  // log lines have date and zone
};

// The command line of one process: its program, and the flags that the launcher
// was given and hands down.
std::vector<std::string> CommandLine(const FlagSet& set, Command command,
                                     const std::string& program,
                                     const JobPlaces& places, int index,
                                     int metrics_port) {
  std::vector<std::string> argv = {program};
  for (std::string& arg : HandedDownFlags(set, command)) {
    argv.push_back(std::move(arg));
  }
  if (!places.ps_hosts.empty()) {
    argv.push_back(absl::StrCat("--ps_hosts=", places.ps_hosts));
  }
  argv.push_back(absl::StrCat("--worker_hosts=", places.worker_hosts));
  argv.push_back(absl::StrCat("--token_file=", places.token_file));
  argv.push_back(absl::StrCat("--task_index=", index));
  argv.push_back("--print_config=false");
  argv.push_back(
      absl::StrCat("--log_time=", places.full_time ? "full" : "short"));
  if (metrics_port != 0) {
    argv.push_back(absl::StrCat("--metrics_port=", metrics_port));
  }
  const bool reports =
      command == Command::kPs || (places.ps_hosts.empty() && index == 0);
  argv.push_back(reports ? "--progress=json" : "--progress=none");
  return argv;
}

// PS 0 leads, or worker 0 if there are no servers. A worker may restart, since
// the job goes on without it and takes it back. A process that holds variables
// may not, since they are lost with it. Where workers hold copies of variables,
// the job goes on without one, which joins again at the next start.
LaunchedProcess Process(const JobFlags& flags, Command command, int index,
                        std::vector<std::string> line) {
  const bool servers = flags.HasServers();
  LaunchedProcess process;
  process.role = command == Command::kPs ? Role::kPs : Role::kWorker;
  process.index = index;
  process.command = std::move(line);
  process.leads = index == 0 && (process.role == Role::kPs) == servers;
  process.may_restart = process.role == Role::kWorker && !flags.HasCopies();
  process.may_leave = process.role == Role::kWorker && flags.HasCopies() &&
                      !process.leads;
  return process;
}

// --worker_hosts of workers that hold all variables: `first`, the address of
// worker 0, which coordinates the job, and the hosts of the others.
std::string HostsOfRanks(const std::string& first,
                         std::vector<std::string> hosts) {
  hosts.front() = first;
  return absl::StrJoin(hosts, ",");
}

LaunchedJobOptions JobOptions(const JobFlags& flags) {
  LaunchedJobOptions options;
  options.max_restarts = flags.cluster.max_restarts;
  options.saves = flags.Saves();
  options.shutdown_timeout = flags.deadlines.shutdown_timeout;
  if (flags.Saves()) options.stop_timeout = flags.checkpoints.stop_timeout;
  options.stop_text = StopText(flags);
  options.full_time = flags.output.FullTime();
  options.ending_timeout =
      flags.deadlines.linger + flags.deadlines.shutdown_timeout;
  return options;
}

}  // namespace

absl::StatusOr<LaunchedJobOptions> PlanLocalProcesses(
    const JobFlags& flags, const FlagSet& set, const std::string& token_file) {
  SHOAL_ASSIGN_OR_RETURN(const std::string ps_program, Sibling("shoal-ps"));
  SHOAL_ASSIGN_OR_RETURN(const std::string worker_program,
                         Sibling("shoal-worker"));
  const bool servers = flags.HasServers();
  const int num_servers = servers ? flags.cluster.ps : 0;
  SHOAL_ASSIGN_OR_RETURN(const std::vector<int> ports,
                         PickFreePorts(servers ? num_servers : 1));
  JobPlaces places;
  const std::string addresses =
      absl::StrJoin(ports, ",", [](std::string* out, int port) {
        absl::StrAppend(out, "127.0.0.1:", port);
      });
  if (servers) places.ps_hosts = addresses;
  const std::vector<std::string> hosts(flags.cluster.workers, "127.0.0.1");
  places.worker_hosts =
      servers ? absl::StrJoin(hosts, ",") : HostsOfRanks(addresses, hosts);
  places.token_file = token_file;
  places.full_time = flags.output.FullTime();
  LaunchedJobOptions options = JobOptions(flags);
  // Each process takes one port: the parameter servers come first.
  auto add = [&](Command command, const std::string& program, int index) {
    const int place = static_cast<int>(options.processes.size());
    std::vector<std::string> line =
        CommandLine(set, command, program, places, index,
                    flags.monitoring.metrics_port == 0
                        ? 0
                        : flags.monitoring.metrics_port + place);
    // The launcher has made the forecast for all processes.
    line.push_back("--memory_check=off");
    options.processes.push_back(
        Process(flags, command, index, std::move(line)));
  };
  for (int i = 0; i < num_servers; ++i) add(Command::kPs, ps_program, i);
  for (int i = 0; i < flags.cluster.workers; ++i) {
    add(Command::kWorker, worker_program, i);
  }
  return options;
}

absl::StatusOr<LaunchedJobOptions> PlanRemoteProcesses(
    const JobFlags& flags, const FlagSet& set, const std::string& token) {
  return PlanProcessesOnHosts(flags, set, token,
                              BySsh(flags.cluster.ssh_command));
}

absl::StatusOr<LaunchedJobOptions> PlanProcessesOnHosts(
    const JobFlags& flags, const FlagSet& set, const std::string& token,
    const HostCommand& on_host) {
  SHOAL_ASSIGN_OR_RETURN(const std::vector<RemoteHost> hosts,
                         ParseRemoteHosts(flags.cluster.hosts,
                                          flags.cluster.worker_per_host));
  SHOAL_ASSIGN_OR_RETURN(const std::string bin, RemoteDirectory(flags));
  const bool servers = flags.HasServers();
  JobPlaces places;
  if (servers) {
    places.ps_hosts = absl::StrJoin(
        hosts, ",", [&](std::string* out, const RemoteHost& host) {
          absl::StrAppend(out, host.WithPort(flags.cluster.ps_port));
        });
  }
  // The workers of a host follow each other.
  std::vector<std::string> worker_hosts;
  for (const RemoteHost& host : hosts) {
    worker_hosts.insert(worker_hosts.end(), host.workers, host.address);
  }
  places.worker_hosts =
      servers ? absl::StrJoin(worker_hosts, ",")
              : HostsOfRanks(hosts.front().WithPort(flags.cluster.ps_port),
                             std::move(worker_hosts));
  places.token_file = "-";
  places.full_time = flags.output.FullTime();
  LaunchedJobOptions options = JobOptions(flags);
  options.remote = true;
  options.input = absl::StrCat(token, "\n");
  options.shutdown_timeout += kSshGrace;
  options.ending_timeout += kSshGrace;
  const int metrics_port = flags.monitoring.metrics_port;
  // `port` counts the processes of the host.
  auto add = [&](Command command, const char* name, int index,
                 const RemoteHost& host, int port) {
    std::vector<std::string> remote =
        CommandLine(set, command, absl::StrCat(bin, "/", name), places, index,
                    metrics_port == 0 ? 0 : metrics_port + port);
    // Each process makes the forecast for its host.
    remote.push_back(absl::StrCat(
        "--memory_check=", flags.monitoring.memory_check ? "on" : "off"));
    options.processes.push_back(
        Process(flags, command, index, on_host(host, remote)));
  };
  for (size_t i = 0; servers && i < hosts.size(); ++i) {
    add(Command::kPs, "shoal-ps", static_cast<int>(i), hosts[i], 0);
  }
  int workers = 0;
  for (const RemoteHost& host : hosts) {
    for (int i = 1; i <= host.workers; ++i) {
      add(Command::kWorker, "shoal-worker", workers++, host, i);
    }
  }
  return options;
}

absl::Status CheckRemoteHosts(const JobFlags& flags) {
  SHOAL_ASSIGN_OR_RETURN(const std::vector<RemoteHost> hosts,
                         ParseRemoteHosts(flags.cluster.hosts));
  SHOAL_ASSIGN_OR_RETURN(const std::string bin, RemoteDirectory(flags));
  std::vector<std::string> names = {"shoal-worker"};
  if (flags.HasServers()) names.push_back("shoal-ps");
  std::vector<std::string> last_words(names.size() * hosts.size());
  std::vector<bool> good(names.size() * hosts.size());
  LauncherEvents events;
  events.on_line = [&](int process, OutputStream stream,
                       absl::string_view line) {
    if (stream == OutputStream::kStderr && !line.empty()) {
      last_words[process] = std::string(line);
    }
  };
  events.on_exit = [&](int process, const ProcessExit& exit, int, bool) {
    good[process] = exit.ok();
    if (last_words[process].empty()) last_words[process] = exit.Describe();
  };
  LauncherOptions options;
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<ProcessLauncher> launcher,
                         ProcessLauncher::Create(options, std::move(events)));
  for (const RemoteHost& host : hosts) {
    for (const std::string& name : names) {
      ProcessSpec spec;
      spec.argv = SshArguments(flags.cluster.ssh_command, host,
                               {absl::StrCat(bin, "/", name), "--help"});
      SHOAL_RETURN_IF_ERROR(launcher->Start(std::move(spec)));
    }
  }
  launcher->StopAfter(flags.deadlines.start_timeout);
  const LaunchOutcome outcome = launcher->Run();
  if (outcome.signal != 0) {
    return absl::CancelledError(
        absl::StrCat("stopped by SIG", sigabbrev_np(outcome.signal)));
  }
  for (size_t i = 0; i < good.size(); ++i) {
    if (good[i]) continue;
    return absl::UnavailableError(
        absl::StrCat("--hosts: cannot run ", bin, "/", names[i % names.size()],
                     " on ", hosts[i / names.size()].target, ": ",
                     last_words[i]));
  }
  return absl::OkStatus();
}

}  // namespace shoal
