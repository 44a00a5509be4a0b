#include "bench/compare/awake_cores.h"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include <gtest/gtest.h>

#include "absl/strings/ascii.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace shoal {
namespace {

// The threads of this process that run only where no other thread wants to.
int IdleThreads() {
  int count = 0;
  DIR* const threads = opendir("/proc/self/task");
  while (const dirent* entry = readdir(threads)) {
    if (!absl::ascii_isdigit(entry->d_name[0])) continue;
    count += sched_getscheduler(std::atoi(entry->d_name)) == SCHED_IDLE ? 1 : 0;
  }
  closedir(threads);
  return count;
}

int Cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  return sched_getaffinity(0, sizeof(cores), &cores) == 0 ? CPU_COUNT(&cores)
                                                          : 0;
}

TEST(AwakeCoresTest, EachCoreHasAThreadThatMakesWayForAllOthers) {
  ASSERT_GT(Cores(), 0);
  ASSERT_EQ(IdleThreads(), 0);
  auto awake = std::make_unique<AwakeCores>();
  const absl::Time deadline = absl::Now() + absl::Seconds(30);
  while (IdleThreads() < Cores() && absl::Now() < deadline) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_EQ(IdleThreads(), Cores());
  awake.reset();
  EXPECT_EQ(IdleThreads(), 0);
}

// A signal that this thread blocks waits for it, as a launcher's SIGCHLD does.
TEST(AwakeCoresTest, TheThreadsTakeNoSignals) {
  const AwakeCores awake;
  sigset_t one, before;
  sigemptyset(&one);
  sigaddset(&one, SIGCHLD);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &one, &before), 0);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(kill(getpid(), SIGCHLD), 0);
    const timespec at_once = {};
    ASSERT_EQ(sigtimedwait(&one, nullptr, &at_once), SIGCHLD);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace shoal
