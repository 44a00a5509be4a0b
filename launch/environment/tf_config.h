#ifndef SHOAL_LAUNCH_ENVIRONMENT_TF_CONFIG_H_
#define SHOAL_LAUNCH_ENVIRONMENT_TF_CONFIG_H_

#include <vector>

#include "absl/status/statusor.h"
#include "launch/environment/environment.h"
#include "launch/flag_set.h"
#include "launch/job_flags.h"

namespace shoal {

// The cluster as TensorFlow's launchers describe it in TF_CONFIG. There are no
// settings without TF_CONFIG.
//
// TF_CONFIG is a JSON object:
//   {"cluster": {"ps": ["h1:2223", …], "worker": ["h1:2222", …]},
//    "task": {"type": "ps", "index": 0}}
// --ps_hosts is cluster.ps. --worker_hosts is cluster.chief (or .master), if
// there is one, followed by cluster.worker: the chief is worker 0. --task_index
// is task.index, plus 1 for a worker if there is a chief. Other keys are
// ignored.
//
// INVALID_ARGUMENT names the path in the JSON that is missing or of the wrong
// type, or that says that this process should be another program.
absl::StatusOr<std::vector<FlagSetting>> TfConfigCluster(
    const Environment& environment, Command command);

}  // namespace shoal

#endif  // SHOAL_LAUNCH_ENVIRONMENT_TF_CONFIG_H_
