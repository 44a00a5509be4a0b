#include "base/backoff.h"

#include <algorithm>
#include <cmath>

#include "base/stable_hash.h"

namespace shoal {

absl::Duration BackoffDelay(const BackoffOptions& options, int attempt,
                            uint64_t seed) {
  // Beyond 64 doublings every sensible maximum is reached.
  const int doublings = std::clamp(attempt, 0, 64);
  const absl::Duration nominal =
      std::min(options.max,
               options.initial * std::pow(options.multiplier, doublings));
  const double unit =
      static_cast<double>(StableHashCombine(seed, doublings) >> 11) * 0x1p-53;
  return nominal * (1 - options.jitter * unit);
}

}  // namespace shoal
