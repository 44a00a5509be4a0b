#include "job/make_link.h"

#include "job/follower.h"
#include "job/job_token.h"
#include "job/leader.h"

namespace shoal {

absl::StatusOr<std::unique_ptr<JobLink>> MakeLink(
    const JobFlags& flags, const JobPlan& plan, const std::string& token,
    const JobLinkDependencies& deps) {
  if (flags.Leads()) return Leader::Create(flags, plan, deps);
  return Follower::Create(flags, CoordinatorChannelFromFlags(flags, token),
                          deps);
}

}  // namespace shoal
