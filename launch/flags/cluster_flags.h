#ifndef SHOAL_LAUNCH_FLAGS_CLUSTER_FLAGS_H_
#define SHOAL_LAUNCH_FLAGS_CLUSTER_FLAGS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "core/shard_map.h"
#include "launch/command.h"
#include "launch/flags/job_flag_rows.h"
#include "launch/launched_rank.h"

namespace shoal {

struct JobFlags;

// The processes of a job, and the hosts and ports where they are.
struct ClusterFlags {
  // Number of parameter servers; in a process, the number of entries of
  // ps_hosts. Without servers (JobFlags::HasServers) it is the number of
  // workers, each of which holds a copy of all variables.
  int ps = 1;
  // Number of workers; with worker_hosts, the number of its entries.
  int workers = 1;
  std::optional<PartitionKind> partition;  // none: see JobFlags::Partition
  std::string ps_hosts;
  std::string worker_hosts;
  std::string coordinator;  // host:port; "": see JobFlags::CoordinatorAddress
  int task_index = 0;
  // The place that a launcher has given this process, if the process is one
  // whose index is its rank (launch/environment/rank_environment.h). No flag.
  std::optional<LaunchedRank> launched;
  std::string listen;
  std::string token_file;
  std::string job;
  int max_restarts = 3;
  int max_job_restarts = -1;  // see MaxJobRestarts
  std::string hosts;  // for shoal run; "": this host alone
  // Number of workers on each of `hosts` that names no number of its own.
  int worker_per_host = 1;
  // Largest number of workers on one of `hosts`.
  int most_workers_of_host = 1;
  int ps_port = 2223;
  std::string remote_bin;  // "": the directory of this program
  std::string ssh_command =
      "ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5";

  // Adds the rows of these flags. The rows are bound to this object.
  void AddRows(JobFlagRows* rows);

  // Sets ps, workers and most_workers_of_host to the numbers that --ps_hosts,
  // --worker_hosts and --hosts give, if `command` takes these flags, or else to
  // the number of processes that `launched` says. `servers` is
  // JobFlags::HasServers. INVALID_ARGUMENT names the flag and the entry that
  // is not valid.
  absl::Status CountHosts(Command command, bool servers = true);

  // Most restarts of the whole job between two checkpoints: that of the flag,
  // otherwise 3 if `job` has a model directory, and 0 without one.
  int MaxJobRestarts(const JobFlags& job) const;

  // INVALID_ARGUMENT: flags of this group do not go together, or do not go with
  // other flags of `job`, which this group is part of. REQUIRES: CountHosts()
  // was OK.
  absl::Status Validate(const JobFlags& job) const;

 private:
  void AddMemberRows(JobFlagRows* rows);    // the processes and their places
  void AddLauncherRows(JobFlagRows* rows);  // flags of shoal run
  // Refuses places of processes that the job's mode does not have, and missing
  // places.
  absl::Status CheckPlaces(const JobFlags& job) const;
  // Refuses --workers that are not as many as --hosts says.
  absl::Status CheckWorkersOfHosts(const JobFlags& job) const;
  // CheckPlaces for a worker of a mode without parameter servers.
  absl::Status CheckRankPlaces(const JobFlags& job) const;
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FLAGS_CLUSTER_FLAGS_H_
