#ifndef SHOAL_JOB_MAKE_LINK_H_
#define SHOAL_JOB_MAKE_LINK_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "job/job_link.h"
#include "job/job_plan.h"
#include "launch/job_flags.h"

namespace shoal {

// The link of the process with these flags: a Leader in task 0, and a Follower
// in any other task, which calls the coordinator with `token`. The plan is that
// of the flags. Errors: those of Leader::Create and Follower::Create.
absl::StatusOr<std::unique_ptr<JobLink>> MakeLink(
    const JobFlags& flags, const JobPlan& plan, const std::string& token,
    const JobLinkDependencies& deps);

}  // namespace shoal

#endif  // SHOAL_JOB_MAKE_LINK_H_
