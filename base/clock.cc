#include "base/clock.h"

#include <chrono>

#include "absl/time/clock.h"

namespace shoal {
namespace {

int64_t SteadyNanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

RealClock::RealClock()
    : wall_start_(absl::Now()), steady_start_ns_(SteadyNanos()) {}

absl::Time RealClock::Now() const {
  return wall_start_ + absl::Nanoseconds(SteadyNanos() - steady_start_ns_);
}

}  // namespace shoal
