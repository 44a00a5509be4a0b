#include "base/processor_clock.h"

#include <time.h>

#include <algorithm>
#include <cstdint>

namespace shoal {
namespace {

// Does so many rounds of multiplications and additions, as a model does. Makes
// no system call.
void Work(int64_t rounds) {
  constexpr int kFloats = 1024;
  alignas(64) float values[kFloats] = {};
  for (int64_t round = 0; round < rounds; ++round) {
    for (float& value : values) value = value * 0.5f + 1.0f;
    // The values are used, for all that the compiler knows.
    asm volatile("" : : "r"(values) : "memory");
  }
}

}  // namespace

absl::Time ProcessorClock::Now() const {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return absl::TimeFromTimespec(now);
}

void ProcessorClock::SleepUntil(absl::Time time) {
  // Each reading enters the kernel, which then takes away a core that is used
  // up. A computation enters it seldom, so a few long parts are done.
  double rounds_a_second = 1e6;
  absl::Time now = Now();
  while (now < time) {
    const double left = std::min(absl::ToDoubleSeconds(time - now), 1e3);
    const auto rounds = static_cast<int64_t>(.8 * left * rounds_a_second) + 1;
    Work(rounds);
    const absl::Time begin = now;
    now = Now();
    const double took = absl::ToDoubleSeconds(now - begin);
    if (took > 0) rounds_a_second = static_cast<double>(rounds) / took;
  }
}

}  // namespace shoal
