#include "job/lost_exit.h"

namespace shoal {

ExitCode LostExit(const JobFlags& flags) {
  const CheckpointFlags& checkpoints = flags.checkpoints;
  const bool goes_on = !checkpoints.model_dir.empty() &&
                       checkpoints.resume != CheckpointFlags::Resume::kNever;
  return goes_on ? kExitLost : kExitFailed;
}

}  // namespace shoal
