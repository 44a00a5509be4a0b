#ifndef SHOAL_BENCH_COMPARE_CPU_WATCH_H_
#define SHOAL_BENCH_COMPARE_CPU_WATCH_H_

#include "absl/time/time.h"
#include "base/clock.h"

namespace shoal {

// How many cores programs other than this one and its children use.
// Thread-compatible.
//
//   CpuWatch watch;
//   ...                            // children run, and all of them end
//   double cores = watch.OthersCores();
class CpuWatch {
 public:
  // Begins now.
  CpuWatch();

  // Mean number of cores that others used since the construction: the processor
  // time of all other processes by /proc/PID/stat, and what a hypervisor gave
  // to others. This process, its children that have ended, and the kernel
  // threads that serve packets are left out. A child that still runs counts as
  // another program.
  double OthersCores() const;

 private:
  static double Read();  // seconds

  const RealClock clock_;
  const absl::Time begin_;
  const double before_;
};

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_CPU_WATCH_H_
