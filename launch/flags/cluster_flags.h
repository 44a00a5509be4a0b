#ifndef SHOAL_LAUNCH_FLAGS_CLUSTER_FLAGS_H_
#define SHOAL_LAUNCH_FLAGS_CLUSTER_FLAGS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "core/shard_map.h"
#include "launch/command.h"
#include "launch/flags/job_flag_rows.h"

namespace shoal {

struct JobFlags;

// Which processes make up the job, and where they are.
struct ClusterFlags {
  int ps = 1;       // how many; of a process: the entries of ps_hosts
  int workers = 1;  // how many; of shoal-ps: the entries of worker_hosts
  std::optional<PartitionKind> partition;  // none: see JobFlags::Partition
  std::string ps_hosts;
  std::string worker_hosts;
  int task_index = 0;
  std::string listen;
  std::string token_file;
  std::string job;
  int max_restarts = 3;
  std::string hosts;  // of shoal run; "": this host alone
  int ps_port = 2223;
  std::string remote_bin;  // "": where the own program lies
  std::string ssh_command =
      "ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5";

  // Adds the rows of these flags; they are bound to this object.
  void AddRows(JobFlagRows* rows);

  // Counts the entries of --ps_hosts, --worker_hosts and --hosts, where
  // `command` takes them, into ps and workers. INVALID_ARGUMENT names the flag
  // and the entry that is none.
  absl::Status CountHosts(Command command);

  // INVALID_ARGUMENT: flags of this group that do not go together, or do not go
  // with the rest of `job`, which this group is part of. REQUIRES: CountHosts()
  // was OK.
  absl::Status Validate(const JobFlags& job) const;

 private:
  void AddMemberRows(JobFlagRows* rows);    // the processes and their places
  void AddLauncherRows(JobFlagRows* rows);  // of shoal run
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FLAGS_CLUSTER_FLAGS_H_
