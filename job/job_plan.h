#ifndef SHOAL_JOB_JOB_PLAN_H_
#define SHOAL_JOB_JOB_PLAN_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "core/model_spec.h"
#include "core/ps_members.h"
#include "core/shard_map.h"
#include "core/unmeasured_metrics.h"
#include "models/model_options.h"
#include "partitioner/build_shard_map.h"

namespace shoal {

// The facts of a job that every process of the job knows. They are the same in
// each process.
struct JobPlan {
  std::string job;     // the job's label, --job; may be empty
  std::string config;  // RegisterRequest::config
  ModelOptions model;
  ModelSpec spec;  // the variables, with the canary if the job has one
  PartitionOptions partition;
  ShardMap map;
  PsMembers ps;  // the parameter servers, each with its shard of the map
  // The metrics of a job whose workers do not compute the model; null: those of
  // the model's objective.
  std::shared_ptr<const UnmeasuredMetrics> unmeasured;
};

// The values from which a plan is made.
struct JobPlanOptions {
  std::string job;
  std::string config;
  ModelOptions model;
  bool canary = false;  // core/canary.h
  PartitionOptions partition;
  int ps = 1;  // parameter servers, each with a shard of its own
  // Further members, each of which holds a copy of one more shard: of the dense
  // variables, or, if `ps` is 0, of all variables. REQUIRES: not 0 if `ps` is.
  int replicas = 0;
  // True: the workers do not compute the model (JobPlan::unmeasured).
  bool replays = false;
};

// Works out the variables and their map. Errors: those of MakeModelSpec and
// BuildShardMap.
absl::StatusOr<JobPlan> MakeJobPlan(JobPlanOptions options);

}  // namespace shoal

#endif  // SHOAL_JOB_JOB_PLAN_H_
