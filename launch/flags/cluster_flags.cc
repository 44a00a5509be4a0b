#include "launch/flags/cluster_flags.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/counted.h"
#include "base/status_macros.h"
#include "launch/host_list.h"
#include "launch/job_flags.h"
#include "launch/ssh_command.h"

namespace shoal {
namespace {

constexpr Choice<PartitionKind> kPartitions[] = {
    {PartitionKind::kFixedSize, "fixed_size"},
    {PartitionKind::kMod, "mod"},
    {PartitionKind::kHash, "hash"}};

// Why a process needs --ps_hosts.
constexpr char kWherePsAre[] = "it says where the parameter servers are";

constexpr char kNoServers[] =
    ": there are no parameter servers, and each worker holds all variables: ";

}  // namespace

void ClusterFlags::AddRows(JobFlagRows* rows) {
  rows->Group("Cluster");
  AddMemberRows(rows);
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"partition", ChoiceTarget(&partition, kPartitions),
             "Distribution of table rows over the parameter servers: "
             "fixed_size by ranges of ids, mod by id mod n, hash for tables "
             "without --feature_size. Left out: fixed_size with "
             "--feature_size, hash without it.",
             NotThereYet{{"min_max"}}});
  AddLauncherRows(rows);
}

void ClusterFlags::AddMemberRows(JobFlagRows* rows) {
  rows->Add(
      kRunAlone, Canonical::kInJob,
      {"ps", &ps, "Number of parameter servers to start.", IntRange{1, 1024}});
  rows->Add(kWholeJobs, Canonical::kNo,
            {"workers", &workers,
             rows->command() == Command::kTrain
                 ? "Number of workers in this process, a thread each."
                 : "Number of workers to start.",
             IntRange{1, 1024}});
  rows->Add(kProcesses, Canonical::kNo,
            {"ps_hosts",
             &ps_hosts,
             "host:port of every parameter server, in order, separated by "
             "commas.",
             {},
             rows->command() == Command::kPs ? kWherePsAre : ""});
  rows->Add(
      kProcesses, Canonical::kNo,
      {"worker_hosts",
       &worker_hosts,
       "Hosts of the workers, in order: a host for each of its workers. The "
       "number of entries is the number of workers to expect. Ports are "
       "ignored, but see --coordinator.",
       {},
       rows->command() == Command::kPs ? "it says how many workers to expect"
                                       : ""});
  rows->Add(static_cast<unsigned>(Command::kWorker), Canonical::kNo,
            {"coordinator", &coordinator,
             "host:port of worker 0 in a mode without parameter servers. Left "
             "out: the first entry of --worker_hosts, which then has a port. "
             "Workers that mpirun or srun has started need no other flag about "
             "their places."});
  rows->Add(
      kProcesses, Canonical::kNo,
      {"task_index", &task_index,
       rows->command() == Command::kPs
           ? "Index of this process in its list of hosts, from 0."
           : "Index of this process in its list of hosts, from 0. In a mode "
             "without parameter servers, mpirun and srun say it, as the rank.",
       IntRange{0, 65534}, "it says which entry of the hosts this process is"});
  rows->Add(kPsAlone, Canonical::kNo,
            {"listen", &listen,
             "host:port to listen on, if it is not this server's entry of "
             "--ps_hosts."});
  rows->Add(kProcesses, Canonical::kNo,
            {"token_file", &token_file,
             "File of mode 0600, or of root and mode 0440, that holds the "
             "job's secret (shoal token); needed unless every address is a "
             "loopback address. -: the secret is the first "
             "line of stdin, and the process stops when stdin ends."});
  rows->Add(kProcesses, Canonical::kNo,
            {"job", &job,
             "Label of the job, the same text on every process; may be left "
             "out. Jobs are told apart by a number that the coordinator "
             "draws."});
}

void ClusterFlags::AddLauncherRows(JobFlagRows* rows) {
  rows->Add(kRunAlone, Canonical::kNo,
            {"max_restarts", &max_restarts,
             "Most times that each worker is started again after a signal "
             "killed it. With --mode=ring and hybrid no worker is, as the "
             "others go on without it.",
             IntRange{0, 1 << 20}});
  rows->Add(
      kRunAlone, Canonical::kNo,
      {"max_job_restarts", &max_job_restarts,
       "Most times that the whole job is started again, from its newest "
       "checkpoint, after a parameter server or all workers were lost, or "
       "worker 0 with --mode=ring. Counted from 0 again after each new "
       "checkpoint. -1: 3 with --model_dir, 0 without it.",
       IntRange{-1, 1 << 20}});
  rows->Add(kRunAlone, Canonical::kNo,
            {"hosts", &hosts,
             "Hosts, separated by commas. One parameter server and "
             "--worker_per_host workers, or n workers for an entry host:n, "
             "are started on each of them by ssh, in place of --ps and "
             "--workers on this host (docs/operations.md). With --mode=ring "
             "there are no parameter servers."});
  rows->Add(kRunAlone, Canonical::kNo,
            {"worker_per_host", &worker_per_host,
             "Number of workers to start on each entry of --hosts that does "
             "not say its own, as host:n does.",
             IntRange{1, kWorkersOfHostMax}});
  rows->Add(kRunAlone, Canonical::kNo,
            {"ps_port", &ps_port,
             "Port of the parameter servers on --hosts, or of worker 0 in a "
             "mode without them.",
             IntRange{1, 65535}});
  rows->Add(kRunAlone, Canonical::kNo,
            {"remote_bin", &remote_bin,
             "Directory of the programs on --hosts. Left out: the directory "
             "of this program on this host."});
  rows->Add(kRunAlone, Canonical::kNo,
            {"ssh_command", &ssh_command,
             "Command that reaches --hosts: a program and its options, which "
             "must not ask questions."});
}

absl::Status ClusterFlags::CountHosts(Command command, bool servers) {
  if (command == Command::kPs || command == Command::kWorker) {
    if (servers) {
      if (ps_hosts.empty()) {
        return absl::InvalidArgumentError(absl::StrCat(
            CommandName(command), " needs --ps_hosts: ", kWherePsAre));
      }
      SHOAL_ASSIGN_OR_RETURN(
          const std::vector<std::string> entries,
          ParseHostList("ps_hosts", ps_hosts, /*need_ports=*/true));
      ps = static_cast<int>(entries.size());
    }
    if (!worker_hosts.empty()) {
      SHOAL_ASSIGN_OR_RETURN(
          const std::vector<std::string> entries,
          ParseHostList("worker_hosts", worker_hosts, /*need_ports=*/false));
      workers = static_cast<int>(entries.size());
    } else if (launched.has_value() && launched->size.has_value()) {
      workers = launched->size->value;
    }
  }
  if (command == Command::kRun && !hosts.empty()) {
    SHOAL_ASSIGN_OR_RETURN(const std::vector<RemoteHost> remote,
                           ParseRemoteHosts(hosts, worker_per_host));
    ps = static_cast<int>(remote.size());
    workers = 0;
    most_workers_of_host = 0;
    for (const RemoteHost& host : remote) {
      workers += host.workers;
      most_workers_of_host = std::max(most_workers_of_host, host.workers);
    }
  }
  if (!servers) ps = workers;
  return absl::OkStatus();
}

absl::Status ClusterFlags::CheckPlaces(const JobFlags& job) const {
  const std::string mode = absl::StrCat("--mode=", job.training.ModeName());
  if (job.HasServers()) {
    if (!coordinator.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--coordinator=", coordinator, " with ", mode,
          ": parameter server 0 coordinates the job; leave --coordinator out"));
    }
    if (!job.HasCopies() || job.command != Command::kWorker ||
        !worker_hosts.empty()) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "shoal-worker needs --worker_hosts with ", mode,
        ": it says how many workers the job has"));
  }
  const bool ps_given =
      std::any_of(job.given.begin(), job.given.end(),
                  [](const auto& flag) { return flag.first == "ps"; });
  if (ps_given) {
    return absl::InvalidArgumentError(
        absl::StrCat("--ps with ", mode, kNoServers, "leave --ps out"));
  }
  if (job.command == Command::kPs) {
    return absl::InvalidArgumentError(absl::StrCat(
        "shoal-ps with ", mode, kNoServers, "start shoal-worker alone"));
  }
  if (job.command != Command::kWorker) return absl::OkStatus();
  return CheckRankPlaces(job);
}

absl::Status ClusterFlags::CheckRankPlaces(const JobFlags& job) const {
  const std::string mode = absl::StrCat("--mode=", job.training.ModeName());
  constexpr absl::string_view kGive =
      "give --worker_hosts, whose first entry has a port, or --coordinator";
  if (!ps_hosts.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--ps_hosts=", ps_hosts, " with ", mode, kNoServers, kGive,
                     " in its place"));
  }
  if (worker_hosts.empty() &&
      !(launched.has_value() && launched->size.has_value())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "shoal-worker needs --worker_hosts with ", mode,
        ": it says how many workers the job has; ", kGive,
        " too. mpirun and srun say it to the processes that they start"));
  }
  if (worker_hosts.empty() && coordinator.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "shoal-worker needs --coordinator with ", mode,
        ": it is host:port of the process of rank 0, on a port that is free "
        "there, and the same for all ", launched->size->Text(),
        " processes"));
  }
  if (launched.has_value()) {
    SHOAL_RETURN_IF_ERROR(CheckLaunchedRank(
        *launched, {task_index, worker_hosts, coordinator}));
  }
  return Annotate(
      ParseHostList(coordinator.empty() ? "worker_hosts" : "coordinator",
                    job.CoordinatorAddress(), /*need_ports=*/true)
          .status(),
      absl::StrCat(mode, " needs the address of worker 0"));
}

absl::Status ClusterFlags::CheckWorkersOfHosts(const JobFlags& job) const {
  if (hosts.empty()) return absl::OkStatus();
  for (const auto& [name, value] : job.given) {
    if (name != "workers" || value == absl::StrCat(workers)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--workers=", value, " and --hosts=", hosts, ", which is ",
        Counted(static_cast<uint64_t>(workers), "worker"),
        ", contradict each other: leave --workers out, or give host:n for "
        "each host"));
  }
  return absl::OkStatus();
}

int ClusterFlags::MaxJobRestarts(const JobFlags& job) const {
  constexpr int kWithCheckpoints = 3;
  if (max_job_restarts >= 0) return max_job_restarts;
  return job.checkpoints.model_dir.empty() ? 0 : kWithCheckpoints;
}

absl::Status ClusterFlags::Validate(const JobFlags& job) const {
  SHOAL_RETURN_IF_ERROR(CheckPlaces(job));
  const bool is_ps = job.command == Command::kPs;
  // Without a list of workers a worker may have any index.
  if (is_ps || (job.command == Command::kWorker && !worker_hosts.empty())) {
    const int processes = is_ps ? ps : workers;
    if (task_index >= processes) {
      return absl::InvalidArgumentError(
          absl::StrCat("--task_index=", task_index, ": --",
                       is_ps ? "ps_hosts" : "worker_hosts", " has ", processes,
                       processes == 1 ? " entry" : " entries",
                       ", so it must be in [0, ", processes - 1, "]"));
    }
  }
  SHOAL_RETURN_IF_ERROR(CheckWorkersOfHosts(job));
  if (hosts.empty() && worker_per_host != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--worker_per_host=", worker_per_host,
        " is for the hosts of --hosts, which is missing; on this host alone "
        "give --workers=",
        worker_per_host));
  }
  if (!listen.empty()) {
    SHOAL_RETURN_IF_ERROR(
        ParseHostList("listen", listen, /*need_ports=*/true).status());
  }
  const uint64_t feature_size = job.model.feature_size;
  const bool dynamic = feature_size == 0;
  if (dynamic == (job.Partition() == PartitionKind::kHash))
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      dynamic
          ? absl::StrCat(
                "--partition=", ChoiceWord(kPartitions, job.Partition()),
                " cuts tables of a known size: give "
                "--feature_size too, or use hash")
          : absl::StrCat("--partition=hash with --feature_size=", feature_size,
                         ": hash places dynamic tables; leave out one of "
                         "the two flags"));
}

}  // namespace shoal
