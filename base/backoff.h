#ifndef SHOAL_BASE_BACKOFF_H_
#define SHOAL_BASE_BACKOFF_H_

#include <cstdint>

#include "absl/time/time.h"

namespace shoal {

struct BackoffOptions {
  absl::Duration initial = absl::Milliseconds(20);
  absl::Duration max = absl::Seconds(1);
  double multiplier = 2;
  // Each delay is drawn from [1 - jitter, 1] of its nominal value, so that
  // many clients of one restarted server do not return at the same instant.
  double jitter = 0.3;
};

// Delay before retry number `attempt`, from 0. A pure function, so a retry
// schedule can be replayed. Each caller has its own `seed`.
absl::Duration BackoffDelay(const BackoffOptions& options, int attempt,
                            uint64_t seed);

}  // namespace shoal

#endif  // SHOAL_BASE_BACKOFF_H_
