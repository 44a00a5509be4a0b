#ifndef SHOAL_RPC_RETRY_RETRY_SCHEDULE_H_
#define SHOAL_RPC_RETRY_RETRY_SCHEDULE_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/backoff.h"

namespace shoal {

struct RetryOptions {
  BackoffOptions backoff;
  // Longest wait for one attempt's answer, so that a frozen server leaves time
  // for another attempt. InfiniteDuration: what the call has left.
  absl::Duration attempt_timeout = absl::Seconds(5);
};

// When to try a call again: UNAVAILABLE, DEADLINE_EXCEEDED and
// RESOURCE_EXHAUSTED pass by themselves; every other error would only come
// again. Pure: time comes in as an argument. Thread-compatible.
class RetrySchedule {
 public:
  // `seed` tells one call's delays from another's.
  RetrySchedule(const RetryOptions& options, absl::Time deadline, uint64_t seed)
      : options_(options), deadline_(deadline), seed_(seed) {}

  static bool IsRetryable(absl::StatusCode code);

  // What the attempt that starts now may take.
  absl::Duration AttemptTimeout(absl::Time now) const;

  // After an attempt failed: the delay before the next one; nullopt if there
  // is none, because of the error or because the deadline would come first.
  std::optional<absl::Duration> NextDelay(absl::StatusCode code,
                                          absl::Time now);

  int attempts() const { return attempts_; }  // that failed so far

 private:
  const RetryOptions options_;
  const absl::Time deadline_;
  const uint64_t seed_;
  int attempts_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_RPC_RETRY_RETRY_SCHEDULE_H_
