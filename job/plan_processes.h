#ifndef SHOAL_JOB_PLAN_PROCESSES_H_
#define SHOAL_JOB_PLAN_PROCESSES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "job/launched_job.h"
#include "launch/flag_set.h"
#include "launch/job_flags.h"

namespace shoal {

// The command lines of a job's processes on this host: programs that lie beside
// this one, free ports of the loopback address, a port each for metrics.
// `set` are the flags of `shoal run` as given; each process is handed what it
// takes of them.
absl::StatusOr<LaunchedJobOptions> PlanLocalProcesses(
    const JobFlags& flags, const FlagSet& set, const std::string& token_file);

// The same on --hosts, by ssh; `token` goes to each process's stdin.
absl::StatusOr<LaunchedJobOptions> PlanRemoteProcesses(
    const JobFlags& flags, const FlagSet& set, const std::string& token);

// Runs the programs' --help on every host of --hosts, all at once. UNAVAILABLE
// names the first host, in the order of the list, where ssh or a program
// failed, and has its last words. Takes --start_timeout at most.
absl::Status CheckRemoteHosts(const JobFlags& flags);

}  // namespace shoal

#endif  // SHOAL_JOB_PLAN_PROCESSES_H_
