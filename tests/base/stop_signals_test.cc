#include "base/stop_signals.h"

#include <signal.h>

#include "gtest/gtest.h"

namespace shoal {
namespace {

using Action = StopSignals::Action;

TEST(StopSignalsTest, RepeatsOfTermAndHupAreNoSecondRequest) {
  for (const int first : {SIGTERM, SIGHUP}) {
    StopSignals signals;
    EXPECT_EQ(signals.first(), 0);
    EXPECT_EQ(signals.On(first), Action::kStop);
    for (int i = 0; i < 3; ++i) {
      for (const int again : {SIGTERM, SIGHUP}) {
        EXPECT_EQ(signals.On(again), Action::kNone);
        EXPECT_EQ(signals.On(again, /*passed_on=*/true), Action::kNone);
      }
    }
    EXPECT_FALSE(signals.next_quits());
    EXPECT_EQ(signals.first(), first);
  }
}

TEST(StopSignalsTest, TheSecondInterruptQuits) {
  StopSignals signals;
  EXPECT_EQ(signals.On(SIGINT), Action::kStop);
  EXPECT_TRUE(signals.next_quits());
  EXPECT_EQ(signals.On(SIGTERM), Action::kNone) << "nor is another signal it";
  EXPECT_EQ(signals.On(SIGINT), Action::kQuit);
  EXPECT_EQ(signals.On(SIGINT), Action::kQuit) << "whoever did not listen";
  EXPECT_EQ(signals.first(), SIGINT);
}

TEST(StopSignalsTest, TheFirstInterruptAfterATermIsTheFirst) {
  StopSignals signals;
  EXPECT_EQ(signals.On(SIGTERM), Action::kStop);
  EXPECT_EQ(signals.On(SIGINT), Action::kRemind);
  EXPECT_EQ(signals.On(SIGHUP), Action::kNone);
  EXPECT_EQ(signals.On(SIGINT), Action::kQuit);
  EXPECT_EQ(signals.first(), SIGTERM);
}

// One Ctrl-C may reach a process twice: from the terminal or the control group,
// and through the launcher, in either order.
TEST(StopSignalsTest, AnInterruptThatWasPassedOnIsNotTheUsersSecond) {
  StopSignals before;
  EXPECT_EQ(before.On(SIGINT, /*passed_on=*/true), Action::kStop);
  EXPECT_EQ(before.On(SIGINT), Action::kRemind);
  StopSignals after;
  EXPECT_EQ(after.On(SIGINT), Action::kStop);
  EXPECT_EQ(after.On(SIGINT, /*passed_on=*/true), Action::kNone);
  EXPECT_EQ(after.On(SIGINT), Action::kQuit);
}

}  // namespace
}  // namespace shoal
