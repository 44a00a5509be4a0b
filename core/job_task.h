#ifndef SHOAL_CORE_JOB_TASK_H_
#define SHOAL_CORE_JOB_TASK_H_

#include "core/choice.h"

namespace shoal {

// The task of a job. A job that evaluates or infers trains nothing: it scores
// the evaluation files with the parameters that the shards start with.
enum class JobTask { kTrain, kEvaluate, kInfer };

// The values of --task_type.
inline constexpr Choice<JobTask> kJobTasks[] = {
    {JobTask::kTrain, "train"},
    {JobTask::kEvaluate, "eval", "scores --val_data_dir"},
    {JobTask::kInfer, "infer", "writes predictions for it"}};

// Tasks that are planned. The flag refuses them as not there yet.
inline constexpr const char* kPlannedJobTasks[] = {"export"};

}  // namespace shoal

#endif  // SHOAL_CORE_JOB_TASK_H_
