#include "job/job_plan.h"

#include <utility>

#include "base/status_macros.h"
#include "core/canary.h"
#include "models/create_model.h"
#include "models/model_table.h"

namespace shoal {

absl::StatusOr<JobPlan> MakeJobPlan(JobPlanOptions options) {
  JobPlan plan;
  plan.job = std::move(options.job);
  plan.config = std::move(options.config);
  plan.model = std::move(options.model);
  plan.partition = options.partition;
  SHOAL_ASSIGN_OR_RETURN(plan.spec, MakeModelSpec(plan.model));
  if (options.canary) AddCanary(&plan.spec);
  if (options.replicas > 0) {
    plan.partition.replicate =
        options.ps == 0 ? Replicate::kAll : Replicate::kDense;
  }
  SHOAL_ASSIGN_OR_RETURN(
      plan.map, BuildShardMap(plan.spec, plan.partition,
                              options.ps + (options.replicas > 0 ? 1 : 0)));
  if (options.replays) {
    plan.unmeasured = std::make_shared<const UnmeasuredMetrics>(
        &FindModel(plan.model.model)->objective->metrics());
  }
  plan.ps = {.count = options.ps + options.replicas,
             .replicated = plan.map.replicated};
  return plan;
}

}  // namespace shoal
