#include "job/main_wait.h"

#include <signal.h>
#include <unistd.h>

#include "gtest/gtest.h"

namespace shoal {
namespace {

TEST(MainWaitTest, TheEndOfTheInputCountsAsASignalOnceAndForcesTheEnd) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  MainWait wait;
  wait.WatchInput(ends[0], absl::Seconds(100));
  // What comes in between is passed over.
  ASSERT_EQ(write(ends[1], "more\n", 5), 5);
  EXPECT_EQ(wait.Wait(absl::Seconds(20)), 0);
  EXPECT_EQ(alarm(0), 0u);
  close(ends[1]);
  EXPECT_EQ(wait.Wait(absl::Seconds(20)), SIGHUP);
  // The system was asked to end the process by then.
  const unsigned left = alarm(0);
  EXPECT_GT(left, 0u);
  EXPECT_LE(left, 100u);
  EXPECT_EQ(wait.Wait(absl::Milliseconds(1)), 0);
  close(ends[0]);
}

TEST(MainWaitTest, ASignalAndANotificationEndAWait) {
  MainWait wait;
  wait.Notify();
  EXPECT_EQ(wait.Wait(absl::Hours(1)), 0);
  kill(getpid(), SIGTERM);
  EXPECT_EQ(wait.Wait(absl::Hours(1)), SIGTERM);
}

}  // namespace
}  // namespace shoal
