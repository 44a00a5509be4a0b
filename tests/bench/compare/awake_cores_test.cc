#include "bench/compare/awake_cores.h"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>

#include <gtest/gtest.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "bench/compare/control_group.h"

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

// The number of those threads, once it is `wanted` or 30 s later. A thread that
// was joined may be seen for a moment more.
int IdleThreadsOnce(int wanted) {
  const absl::Time deadline = absl::Now() + absl::Seconds(30);
  while (IdleThreads() != wanted && absl::Now() < deadline) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  return IdleThreads();
}

TEST(AwakeCoresTest, EachCoreHasAThreadThatMakesWayForAllOthers) {
  ASSERT_GT(Cores(), 0);
  ASSERT_EQ(IdleThreads(), 0);
  auto awake = std::make_unique<AwakeCores>();
  EXPECT_EQ(IdleThreadsOnce(Cores()), Cores());
  awake.reset();
  EXPECT_EQ(IdleThreadsOnce(0), 0);
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

// The share of a core that a process which computes has in half a second.
double ShareOfABusyProcess(const ControlGroup& group) {
  const pid_t child = fork();
  if (child == 0) {
    std::ofstream joined(group.processes_file());
    joined << getpid() << std::endl;
    if (!joined) _exit(1);
    const absl::Time end = absl::Now() + absl::Milliseconds(500);
    while (absl::Now() < end) {
      for (volatile int i = 0; i < 1000000;) i = i + 1;
    }
    _exit(0);
  }
  const absl::Time begin = absl::Now();
  rusage used = {};
  int status = 0;
  EXPECT_EQ(wait4(child, &status, 0, &used), child);
  EXPECT_EQ(status, 0);
  return absl::FDivDuration(absl::DurationFromTimeval(used.ru_utime) +
                                absl::DurationFromTimeval(used.ru_stime),
                            absl::Now() - begin);
}

// The kernel gives a group its quota back at any time, and looks at its clock
// tick who has a core, unless somebody gives it up.
TEST(AwakeCoresTest, AGroupHasItsQuotaBackAtOnce) {
  const auto place = ControlGroup::Find();
  auto group = place.ok() ? ControlGroup::Make(
                                *place, absl::StrCat("shoal-awake", getpid()))
                          : place.status();
  if (!group.ok()) {
    std::cout << "no quota here: " << group.status() << std::endl;
    GTEST_SKIP() << group.status();
  }
  ASSERT_TRUE(group->PutFirst().ok());
  constexpr double kShare = 2. / 3;
  constexpr absl::Duration kPeriod = absl::Milliseconds(4);
  ASSERT_TRUE(group->SetQuota(kShare * kPeriod, kPeriod).ok());
  const AwakeCores awake;
  // Other programs may hold it up now and then; it had .75 of its share in each
  // try when the threads offered nothing.
  double most = 0;
  for (int i = 0; i < 10 && most < .9 * kShare; ++i) {
    most = std::max(most, ShareOfABusyProcess(*group));
  }
  EXPECT_GE(most, .9 * kShare);
  EXPECT_LE(most, 1.1 * kShare);
}

}  // namespace
}  // namespace shoal
