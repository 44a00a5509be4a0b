#ifndef SHOAL_JOB_WORKER_HOST_H_
#define SHOAL_JOB_WORKER_HOST_H_

#include <string>

#include "launch/flags/cluster_flags.h"

namespace shoal {

// Name of the host of a worker process (RegisterRequest::host): that of its
// entry of --worker_hosts. Without such an entry, and for an entry that is a
// loopback address, which every machine has: MachineName().
std::string WorkerHost(const ClusterFlags& cluster);

// Number of workers on this worker's host, itself included, as far as
// --worker_hosts tells, or else its launcher (launch/launched_rank.h);
// otherwise 1.
int WorkersOnHost(const ClusterFlags& cluster);

}  // namespace shoal

#endif  // SHOAL_JOB_WORKER_HOST_H_
