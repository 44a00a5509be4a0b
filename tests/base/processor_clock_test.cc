#include "base/processor_clock.h"

#include <chrono>
#include <thread>

#include "gtest/gtest.h"

namespace shoal {
namespace {

TEST(ProcessorClockTest, StandsStillWhileTheThreadWaits) {
  const ProcessorClock clock;
  const absl::Time began = clock.Now();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(clock.Now() - began, absl::Milliseconds(100));
}

TEST(ProcessorClockTest, AWaitTakesTheProcessor) {
  ProcessorClock clock;
  for (int i = 0; i < 3; ++i) {
    const absl::Time until = clock.Now() + absl::Milliseconds(2);
    clock.SleepUntil(until);
    EXPECT_GE(clock.Now(), until);
  }
  clock.SleepUntil(absl::InfinitePast());
}

TEST(ProcessorClockTest, IsThatOfOneThread) {
  ProcessorClock clock;
  clock.SleepUntil(clock.Now() + absl::Milliseconds(100));
  absl::Time others;
  std::thread([&] { others = clock.Now(); }).join();
  EXPECT_LT(others, clock.Now());
}

}  // namespace
}  // namespace shoal
