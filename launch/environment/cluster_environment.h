#ifndef SHOAL_LAUNCH_ENVIRONMENT_CLUSTER_ENVIRONMENT_H_
#define SHOAL_LAUNCH_ENVIRONMENT_CLUSTER_ENVIRONMENT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "launch/environment/environment.h"
#include "launch/flag_set.h"
#include "launch/job_flags.h"

namespace shoal {

// What the environment says of the cluster and of this process's place in it,
// as flags: nothing where `command` starts a whole job, or where no launcher
// that Shoal knows has set its variables. Of several launchers the first of
// the table in cluster_environment.cc wins. A launcher is one function like
// TfConfigCluster, in a file of its own beside this one, and one row of the
// table.
//
// Errors: those of the launcher's function.
absl::StatusOr<std::vector<FlagSetting>> ClusterFromEnvironment(
    const Environment& environment, Command command);

}  // namespace shoal

#endif  // SHOAL_LAUNCH_ENVIRONMENT_CLUSTER_ENVIRONMENT_H_
