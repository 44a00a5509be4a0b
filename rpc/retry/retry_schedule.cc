#include "rpc/retry/retry_schedule.h"

#include <algorithm>

namespace shoal {

bool RetrySchedule::IsRetryable(absl::StatusCode code) {
  return code == absl::StatusCode::kUnavailable ||
         code == absl::StatusCode::kDeadlineExceeded ||
         code == absl::StatusCode::kResourceExhausted;
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
