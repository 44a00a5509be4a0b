#ifndef SHOAL_BENCH_MICRO_THREAD_CPU_H_
#define SHOAL_BENCH_MICRO_THREAD_CPU_H_

#include <time.h>

namespace shoal {

inline double CpuSecondsOf(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

// Seconds of processor time of this thread, on which other processes of the
// machine have little influence.
inline double ThreadCpuSeconds() {
  return CpuSecondsOf(CLOCK_THREAD_CPUTIME_ID);
}
inline double ProcessCpuSeconds() {
  return CpuSecondsOf(CLOCK_PROCESS_CPUTIME_ID);
}

}  // namespace shoal

#endif  // SHOAL_BENCH_MICRO_THREAD_CPU_H_
