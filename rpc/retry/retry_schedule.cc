#include "rpc/retry/retry_schedule.h"

#include <algorithm>

#include "base/may_pass.h"

namespace shoal {

bool RetrySchedule::IsRetryable(absl::StatusCode code) {
  return MayPass(code);
}

absl::Duration RetrySchedule::AttemptTimeout(absl::Time now) const {
  return std::min(deadline_ - now, options_.attempt_timeout);
}

std::optional<absl::Duration> RetrySchedule::NextDelay(absl::StatusCode code,
                                                       absl::Time now) {
  const absl::Duration delay =
      BackoffDelay(options_.backoff, attempts_++, seed_);
  if (!IsRetryable(code) || now + delay >= deadline_) return std::nullopt;
  return delay;
}

}  // namespace shoal
