#include "bench/compare/parsed_job.h"

#include "base/status_macros.h"
#include "job/job_plan.h"
#include "job/options_from_flags.h"
#include "job/worker_compute.h"

namespace shoal {

absl::StatusOr<std::unique_ptr<ParsedJob>> ParseFlags(const FlagMap& flags,
                                                      const FileSystem& files) {
  auto job = std::make_unique<ParsedJob>();
  SHOAL_RETURN_IF_ERROR(job->set.Parse(Arguments(flags)));
  job->flags.given = job->set.Given();
  SHOAL_RETURN_IF_ERROR(job->flags.Validate());
  SHOAL_ASSIGN_OR_RETURN(const JobPlan plan, PlanJob(job->flags));
  if (job->flags.compute.Replays()) {
    SHOAL_ASSIGN_OR_RETURN(const WorkerComputeOptions compute,
                           WorkerComputeFromFlags(job->flags, files));
    SHOAL_RETURN_IF_ERROR(CheckReplay(compute, plan));
  }
  return job;
}

}  // namespace shoal
