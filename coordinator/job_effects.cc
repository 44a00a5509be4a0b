#include "coordinator/job_effects.h"

#include <utility>

#include "base/check.h"
#include "base/status_macros.h"

namespace shoal {

void Log(LogLevel level, std::string line, CoordinatorActions* actions) {
  actions->emplace_back(LogAction{level, std::move(line)});
}

void Send(const Member& member, CoordinatorMessage message,
          CoordinatorActions* actions) {
  SHOAL_DCHECK(member.open());
  actions->emplace_back(SendAction{member.session, std::move(message)});
}

JobEffects EndWith(absl::Status status, std::string first) {
  JobEffects effects;
  effects.end = JobOutcome{std::move(status), std::move(first)};
  return effects;
}

JobEffects EndWithLoss(absl::Status status, std::string process) {
  JobEffects effects = EndWith(std::move(status), std::move(process));
  effects.end->lost = true;
  return effects;
}

absl::StatusOr<JobEffects> EndUnlessInvalid(const Member& from,
                                            const absl::Status& status) {
  if (status.ok()) return JobEffects();
  if (absl::IsInvalidArgument(status)) return status;
  return EndWith(Annotate(status, from.Name()),
                 from.Process());
}

}  // namespace shoal
