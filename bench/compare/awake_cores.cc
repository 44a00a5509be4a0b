#include "bench/compare/awake_cores.h"

#include <sched.h>
#include <signal.h>

namespace shoal {
namespace {

constexpr int kPauses = 400;  // between two offers of the core; about 20 us

// Leaves the units of the core to its other hardware thread.
void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

AwakeCores::AwakeCores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) return;
  // The threads inherit this mask. A signal of the process that one of them
  // took would be lost to the thread that waits for it, such as the SIGCHLD of
  // a launcher.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &cores)) {
      threads_.emplace_back([this, core] { StayOn(core); });
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

AwakeCores::~AwakeCores() {
  ends_ = true;
  for (std::thread& thread : threads_) thread.join();
}

void AwakeCores::StayOn(int core) {
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(core, &own);
  const sched_param lowest = {};
  // At another priority the thread would take time from what is measured.
  if (sched_setscheduler(0, SCHED_IDLE, &lowest) != 0 ||
      sched_setaffinity(0, sizeof(own), &own) != 0) {
    return;
  }
  while (!ends_) {
    for (int i = 0; i < kPauses; ++i) Pause();
    sched_yield();
  }
}

}  // namespace shoal
