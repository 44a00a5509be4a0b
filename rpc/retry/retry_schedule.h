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
  // Limit on one attempt, so that a frozen server leaves time for another
  // attempt. InfiniteDuration: an attempt may take all the time that the call
  // has left.
  absl::Duration attempt_timeout = absl::Seconds(5);
};

// Decides when to try a call again. UNAVAILABLE, DEADLINE_EXCEEDED and
// RESOURCE_EXHAUSTED may pass with time. After any other error the call is not
// repeated, because the error would only come again. Pure: the time is an
// argument. Thread-compatible.
class RetrySchedule {
 public:
  // Calls need different values of `seed`, so that their delays differ.
  RetrySchedule(const RetryOptions& options, absl::Time deadline, uint64_t seed)
      : options_(options), deadline_(deadline), seed_(seed) {}

  static bool IsRetryable(absl::StatusCode code);

  // The timeout of an attempt that starts now.
  absl::Duration AttemptTimeout(absl::Time now) const;

  // Says that an attempt failed, and returns the delay before the next attempt.
  // Returns nullopt if the call is not repeated, because of the error or
  // because the deadline comes first.
  std::optional<absl::Duration> NextDelay(absl::StatusCode code,
                                          absl::Time now);

  int attempts() const { return attempts_; }  // failed attempts so far

 private:
  const RetryOptions options_;
  const absl::Time deadline_;
  const uint64_t seed_;
  int attempts_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_RPC_RETRY_RETRY_SCHEDULE_H_
