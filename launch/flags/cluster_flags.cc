#include "launch/flags/cluster_flags.h"

#include "absl/strings/str_cat.h"
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

}  // namespace

void ClusterFlags::AddRows(JobFlagRows* rows) {
  rows->Group("Cluster");
  AddMemberRows(rows);
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"partition", ChoiceTarget(&partition, kPartitions),
             "How table rows are spread over the parameter servers: "
             "fixed_size is ranges, mod is id mod n, hash is for tables "
             "without --feature_size. Left out: what fits.",
             NotThereYet{{"min_max"}}});
  AddLauncherRows(rows);
}

void ClusterFlags::AddMemberRows(JobFlagRows* rows) {
  rows->Add(kRunAlone, Canonical::kInJob,
            {"ps", &ps, "Parameter servers to start.", IntRange{1, 1024}});
  rows->Add(kWholeJobs, Canonical::kNo,
            {"workers", &workers,
             rows->command() == Command::kTrain
                 ? "Worker loops, a thread each, on one shard."
                 : "Workers to start.",
             IntRange{1, 1024}});
  rows->Add(kProcesses, Canonical::kNo,
            {"ps_hosts",
             &ps_hosts,
             "host:port of every parameter server, in order, commas "
             "between.",
             {},
             "it says where the parameter servers are"});
  rows->Add(
      kProcesses, Canonical::kNo,
      {"worker_hosts",
       &worker_hosts,
       "Hosts of the workers, in order: how many to expect.",
       {},
       rows->command() == Command::kPs ? "it says how many workers to expect"
                                       : ""});
  rows->Add(
      kProcesses, Canonical::kNo,
      {"task_index", &task_index, "Which of them this process is, from 0.",
       IntRange{0, 65534}, "it says which entry of the hosts this process is"});
  rows->Add(kPsAlone, Canonical::kNo,
            {"listen", &listen,
             "host:port to listen on, where it is not the own entry of "
             "--ps_hosts."});
  rows->Add(kProcesses, Canonical::kNo,
            {"token_file", &token_file,
             "File of mode 0600 that holds the job's secret; needed "
             "unless all is on the loopback address. -: the first line "
             "of stdin, at whose end the process then stops."});
  rows->Add(kProcesses, Canonical::kNo,
            {"job", &job,
             "Label of the job, of the same text on every process; may "
             "be left out. A number that PS 0 draws tells jobs apart."});
}

void ClusterFlags::AddLauncherRows(JobFlagRows* rows) {
  rows->Add(kRunAlone, Canonical::kNo,
            {"max_restarts", &max_restarts,
             "How often to start a worker again that a signal killed.",
             IntRange{0, 1 << 20}});
  rows->Add(kRunAlone, Canonical::kNo,
            {"hosts", &hosts,
             "Start one parameter server and one worker on each of these "
             "hosts by ssh, commas between, in place of --ps and --workers "
             "here (docs/operations.md)."});
  rows->Add(kRunAlone, Canonical::kNo,
            {"ps_port", &ps_port, "Port of the parameter servers on --hosts.",
             IntRange{1, 65535}});
  rows->Add(kRunAlone, Canonical::kNo,
            {"remote_bin", &remote_bin,
             "Where the programs lie on --hosts; left out: where this one "
             "lies here."});
  rows->Add(kRunAlone, Canonical::kNo,
            {"ssh_command", &ssh_command,
             "How --hosts are reached: a program and its options, which may "
             "ask no questions."});
}

absl::Status ClusterFlags::CountHosts(Command command) {
  if (command == Command::kPs || command == Command::kWorker) {
    SHOAL_ASSIGN_OR_RETURN(
        const std::vector<std::string> servers,
        ParseHostList("ps_hosts", ps_hosts, /*need_ports=*/true));
    ps = static_cast<int>(servers.size());
    if (!worker_hosts.empty()) {
      SHOAL_ASSIGN_OR_RETURN(
          const std::vector<std::string> entries,
          ParseHostList("worker_hosts", worker_hosts, /*need_ports=*/false));
      workers = static_cast<int>(entries.size());
    }
  }
  if (command == Command::kRun && !hosts.empty()) {
    SHOAL_ASSIGN_OR_RETURN(const std::vector<RemoteHost> remote,
                           ParseRemoteHosts(hosts));
    ps = static_cast<int>(remote.size());
    workers = ps;
  }
  return absl::OkStatus();
}

absl::Status ClusterFlags::Validate(const JobFlags& job) const {
  const bool is_ps = job.command == Command::kPs;
  // A worker may join beyond the list, if it has none.
  if (is_ps || (job.command == Command::kWorker && !worker_hosts.empty())) {
    const int processes = is_ps ? ps : workers;
    if (task_index >= processes) {
      return absl::InvalidArgumentError(
          absl::StrCat("--task_index=", task_index, ": --",
                       is_ps ? "ps_hosts" : "worker_hosts", " has ", processes,
                       " entries, so it must be in [0, ", processes - 1, "]"));
    }
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
                "--feature_size too, or leave it to hash")
          : absl::StrCat("--partition=hash with --feature_size=", feature_size,
                         ": hash places dynamic tables; leave one of the "
                         "two out"));
}

}  // namespace shoal
