#ifndef SHOAL_JOB_PLAN_PROCESSES_H_
#define SHOAL_JOB_PLAN_PROCESSES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "job/launched_job.h"
#include "launch/flag_set.h"
#include "launch/job_flags.h"
#include "launch/ssh_command.h"

namespace shoal {

// Plans a job's processes on this host: programs in the directory of this one,
// free ports of the loopback address, and one port per process for metrics.
// `set` holds the flags of `shoal run` as given; each process gets those of
// them that it takes (HandedDownFlags).
absl::StatusOr<LaunchedJobOptions> PlanLocalProcesses(
    const JobFlags& flags, const FlagSet& set, const std::string& token_file);

// The same for --hosts, by ssh (--ssh_command). `token` is written to the stdin
// of each process.
absl::StatusOr<LaunchedJobOptions> PlanRemoteProcesses(
    const JobFlags& flags, const FlagSet& set, const std::string& token);

// The same for --hosts that are reached in another way than by ssh.
absl::StatusOr<LaunchedJobOptions> PlanProcessesOnHosts(
    const JobFlags& flags, const FlagSet& set, const std::string& token,
    const HostCommand& on_host);

// Runs the programs with --help on all hosts of --hosts at once. UNAVAILABLE
// names the first host, in the order of the list, on which ssh or a program
// failed, with the last line that it printed on stderr. Takes --start_timeout
// at most.
absl::Status CheckRemoteHosts(const JobFlags& flags);

}  // namespace shoal

#endif  // SHOAL_JOB_PLAN_PROCESSES_H_
