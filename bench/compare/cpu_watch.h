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

  // Mean number of cores that others used since the construction: processor
  // time in programs and the kernel, and what a hypervisor gave to others, by
  // /proc/stat, without that of this process, of its children that have ended,
  // and of the kernel threads that serve interrupts. A child that still runs
  // counts as another program.
  double OthersCores() const;

 private:
  struct Seconds {
    double all = 0;
    double own = 0;
  };
  static Seconds Read();

  const RealClock clock_;
  const absl::Time begin_;
  const Seconds before_;
};

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_CPU_WATCH_H_
