#ifndef SHOAL_LAUNCH_CLUSTER_ENVIRONMENT_H_
#define SHOAL_LAUNCH_CLUSTER_ENVIRONMENT_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launch/flag_set.h"
#include "launch/job_flags.h"

namespace shoal {

// The environment variables of this process, as main found them.
using Environment = std::map<std::string, std::string>;

// What the environment says of the cluster and of this process's place in it,
// as flags: nothing where `command` starts a whole job or no variable is set.
//
// TF_CONFIG, as TensorFlow's launchers set it, is a JSON object:
//   {"cluster": {"ps": ["h1:2223", …], "worker": ["h1:2222", …]},
//    "task": {"type": "ps", "index": 0}}
// --ps_hosts is cluster.ps, --worker_hosts is cluster.chief (or .master), if
// there is one, and then cluster.worker: the chief is worker 0. --task_index is
// task.index, of a worker beside a chief one more. Other keys are ignored.
//
// INVALID_ARGUMENT names the path in the JSON that is missing, of the wrong
// type, or says that this process should be another program.
absl::StatusOr<std::vector<FlagSetting>> ClusterFromEnvironment(
    const Environment& environment, Command command);

}  // namespace shoal

#endif  // SHOAL_LAUNCH_CLUSTER_ENVIRONMENT_H_
