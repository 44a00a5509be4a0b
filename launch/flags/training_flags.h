#ifndef SHOAL_LAUNCH_FLAGS_TRAINING_FLAGS_H_
#define SHOAL_LAUNCH_FLAGS_TRAINING_FLAGS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "core/first_layer.h"
#include "core/job_task.h"
#include "core/training_mode.h"
#include "launch/command.h"
#include "launch/flags/job_flag_rows.h"

namespace shoal {

// The task of the job, and the way in which a worker computes.
struct TrainingFlags {
  JobTask task_type = JobTask::kTrain;
  TrainingMode mode = TrainingMode::kAsync;
  int batch_size = 1024;
  int num_epochs = 1;
  int pipeline_depth = -1;  // -1: see JobFlags::PipelineDepth
  int64_t warmup_steps = 0;
  bool canary = false;
  std::string backend = "auto";  // one of kBackendNames
  FirstLayer first_layer = FirstLayer::kAuto;

  bool Trains() const { return task_type == JobTask::kTrain; }
  bool Infers() const { return task_type == JobTask::kInfer; }

  // The values as they are typed.
  std::string TaskName() const;
  std::string ModeName() const;

  // Adds the rows of these flags. The rows are bound to this object.
  void AddRows(JobFlagRows* rows);

  // INVALID_ARGUMENT: a depth that the mode does not have. The row of each flag
  // has its range, and the flags of other groups that --task_type needs are
  // checked by those groups.
  absl::Status Validate(Command command) const;
};

// INVALID_ARGUMENT, naming the flags, if the mode does not have this pipeline
// depth in a job of this command. -1: the mode's own.
absl::Status CheckDepth(const TrainingModeRow& mode, Command command,
                        int depth);

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FLAGS_TRAINING_FLAGS_H_
