#include "base/processor_clock.h"

#include <time.h>

#include <algorithm>
#include <chrono>

namespace shoal {
namespace {

// Some tens of microseconds of multiplications and additions, as a model does
// them. Makes no system call.
void Work() {
  constexpr int kRounds = 200;
  constexpr int kFloats = 1024;
  alignas(64) float values[kFloats] = {};
  for (int round = 0; round < kRounds; ++round) {
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
  // Reading this clock enters the kernel, which then takes away a core that is
  // used up; a computation enters it seldom. The elapsed time can be read
  // without it, and a thread's processor time passes no faster: before so much
  // has elapsed as is left, there is nothing to look for.
  using Elapsed = std::chrono::steady_clock;
  for (absl::Time now = Now(); now < time; now = Now()) {
    const auto left =
        absl::ToChronoNanoseconds(std::min(time - now, absl::Hours(1)));
    const Elapsed::time_point begin = Elapsed::now();
    do {
      Work();
    } while (Elapsed::now() - begin < left);
  }
}

}  // namespace shoal
