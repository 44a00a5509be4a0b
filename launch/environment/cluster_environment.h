#ifndef SHOAL_LAUNCH_ENVIRONMENT_CLUSTER_ENVIRONMENT_H_
#define SHOAL_LAUNCH_ENVIRONMENT_CLUSTER_ENVIRONMENT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "launch/environment/environment.h"
#include "launch/flag_set.h"
#include "launch/job_flags.h"

namespace shoal {

// Reads the environment variables that a launcher sets, and returns the flags
// that describe the cluster and this process's place in it. Returns no flags if
// `command` starts a whole job, or if no known launcher has set its variables.
// If several launchers have set theirs, the first launcher in the table of
// cluster_environment.cc wins. To add a launcher, add a function like
// TfConfigCluster, in a separate file beside this one, and a row to the table.
//
// Errors: those of the launcher's function.
absl::StatusOr<std::vector<FlagSetting>> ClusterFromEnvironment(
    const Environment& environment, Command command);

}  // namespace shoal

#endif  // SHOAL_LAUNCH_ENVIRONMENT_CLUSTER_ENVIRONMENT_H_
