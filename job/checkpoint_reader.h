#ifndef SHOAL_JOB_CHECKPOINT_READER_H_
#define SHOAL_JOB_CHECKPOINT_READER_H_

#include <string>

#include "base/executor.h"
#include "base/file_system.h"
#include "coordinator/coordinator.h"

namespace shoal {

// A function that reads parts of the files of checkpoints below `model_dir` on
// `executor`, for processes that have a model directory of their own. Errors:
// those of the file system, which name the file; DATA_LOSS: the file ends
// before the part. `files` and `executor` outlive the function.
CoordinatorWork::ReadFile CheckpointReader(const FileSystem* files,
                                           std::string model_dir,
                                           Executor* executor);

}  // namespace shoal

#endif  // SHOAL_JOB_CHECKPOINT_READER_H_
