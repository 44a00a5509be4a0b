#ifndef SHOAL_JOB_JOB_PLAN_H_
#define SHOAL_JOB_JOB_PLAN_H_

#include <string>

#include "core/model_spec.h"
#include "core/shard_map.h"
#include "models/model_options.h"
#include "partitioner/build_shard_map.h"

namespace shoal {

// What all processes of a job know of it, worked out: the same in each.
struct JobPlan {
  std::string job;     // its label, --job; may be empty
  std::string config;  // RegisterRequest::config
  ModelOptions model;
  ModelSpec spec;  // with the canary, where the job has one
  PartitionOptions partition;
  ShardMap map;
};

}  // namespace shoal

#endif  // SHOAL_JOB_JOB_PLAN_H_
