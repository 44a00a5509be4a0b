#include "job/main_wait.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "base/ignored_signal.h"
#include "gtest/gtest.h"
#include "job/exit_code.h"
#include "job/quit_at_once.h"
#include "launch/child_process.h"

namespace shoal {
namespace {

using Action = StopSignals::Action;

TEST(MainWaitTest, TheEndOfTheInputCountsAsASignalOnceAndForcesTheEnd) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  MainWait wait;
  wait.Begin();
  wait.WatchInput(ends[0], absl::Seconds(100));
  // What comes in between is passed over.
  ASSERT_EQ(write(ends[1], "more\n", 5), 5);
  EXPECT_EQ(wait.Wait(absl::Seconds(20)).signal, 0);
  EXPECT_EQ(alarm(0), 0u);
  close(ends[1]);
  const MainWait::Event event = wait.Wait(absl::Seconds(20));
  EXPECT_EQ(event.signal, SIGHUP);
  EXPECT_EQ(event.action, Action::kStop);
  // The system was asked to end the process by then.
  const unsigned left = alarm(0);
  EXPECT_GT(left, 0u);
  EXPECT_LE(left, 100u);
  EXPECT_EQ(wait.Wait(absl::Milliseconds(1)).signal, 0);
  close(ends[0]);
}

TEST(MainWaitTest, ASignalAndANotificationEndAWait) {
  MainWait wait;
  wait.Begin();
  wait.Notify();
  EXPECT_EQ(wait.Wait(absl::Hours(1)).action, Action::kNone);
  EXPECT_EQ(wait.first_signal(), 0);
  kill(getpid(), SIGTERM);
  const MainWait::Event event = wait.Wait(absl::Hours(1));
  EXPECT_EQ(event.action, Action::kStop);
  EXPECT_EQ(event.signal, SIGTERM);
  EXPECT_FALSE(event.passed_on);
  EXPECT_EQ(wait.first_signal(), SIGTERM);
}

TEST(MainWaitTest, WhoDoesNotWaitIsToldOfASignal) {
  MainWait wait;
  wait.Begin();
  EXPECT_EQ(wait.CheckNotStopped(), absl::OkStatus());
  kill(getpid(), SIGTERM);
  EXPECT_EQ(wait.CheckNotStopped(), absl::CancelledError("stopped by SIGTERM"));
}

TEST(MainWaitTest, ASignalThatTheLauncherPassesOnIsNotTheUsers) {
  MainWait wait;
  wait.Begin();
  kill(getpid(), SIGINT);
  EXPECT_EQ(wait.Wait(absl::Hours(1)).action, Action::kStop);
  PassOnSignal(getpid(), SIGINT);
  const MainWait::Event event = wait.Wait(absl::Hours(1));
  EXPECT_EQ(event.action, Action::kNone);
  EXPECT_TRUE(event.passed_on);
}

TEST(MainWaitTest, AHangupThatIsIgnoredAtTheStartStaysIgnored) {
  signal(SIGHUP, SIG_IGN);
  {
    MainWait wait;
    EXPECT_TRUE(IsIgnored(SIGHUP));
    wait.Begin();
    kill(getpid(), SIGHUP);
    kill(getpid(), SIGTERM);
    EXPECT_EQ(wait.Wait(absl::Hours(1)).signal, SIGTERM);
    EXPECT_EQ(wait.Wait(absl::Milliseconds(1)).signal, 0);
  }
  signal(SIGHUP, SIG_DFL);
}

// Runs `child` in a process of its own; returns how it ended (waitpid).
int EndOf(const std::function<void()>& child) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(20);
    signal(SIGHUP, SIG_DFL);  // whatever started this test
    child();
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

TEST(MainWaitTest, BeforeTheBeginningASignalEndsTheProcess) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const int status = EndOf([signal] {
      MainWait wait;
      kill(getpid(), signal);
    });
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), kExitStopped) << signal;
  }
}

TEST(MainWaitTest, TheSecondInterruptEndsTheProcess) {
  const int status = EndOf([] {
    MainWait wait;
    wait.Begin();
    for (int i = 0; i < 2; ++i) {
      kill(getpid(), SIGINT);
      const MainWait::Event event = wait.Wait(absl::Hours(1));
      if (event.action != Action::kQuit) continue;
      Logger logger({"", LogLevel::kError});
      QuitAtOnce([] { return std::string(); }, &logger);
    }
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), kExitStopped);
}

TEST(MainWaitTest, AProcessEndsAtOnceEvenIfItsLastWordsHang) {
  const int status = EndOf([] {
    Logger logger({"", LogLevel::kError});
    QuitAtOnce(
        [] {
          for (;;) pause();
          return std::string();
        },
        &logger);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), kExitStopped);
}

TEST(MainWaitTest, AProcessThatWaitsNoMoreEndsByTheSecondInterruptAlone) {
  for (const bool interrupted : {true, false}) {
    const int needed = interrupted ? 1 : 2;
    for (int sent = 0; sent <= 2; ++sent) {
      const int status = EndOf([interrupted, sent] {
        MainWait wait;
        wait.Begin();
        kill(getpid(), interrupted ? SIGINT : SIGTERM);
        wait.Wait(absl::Hours(1));
        wait.QuitOnInterrupt();
        PassOnSignal(getpid(), SIGINT);
        for (int i = 0; i < sent; ++i) kill(getpid(), SIGINT);
      });
      ASSERT_TRUE(WIFEXITED(status));
      EXPECT_EQ(WEXITSTATUS(status), sent < needed ? kExitOk : kExitStopped)
          << interrupted << " " << sent;
    }
  }
  // Another reader of signals has had the first one.
  const int status = EndOf([] {
    MainWait wait;
    wait.Begin();
    wait.QuitOnInterrupt(/*interrupted=*/true);
    kill(getpid(), SIGINT);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), kExitStopped);
}

}  // namespace
}  // namespace shoal
