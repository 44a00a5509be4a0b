#ifndef SHOAL_BENCH_ALLREDUCE_BUS_RATE_H_
#define SHOAL_BENCH_ALLREDUCE_BUS_RATE_H_

#include <cstdint>
#include <vector>

namespace shoal {

// The busbw of nccl-tests (its doc/PERFORMANCE.md): 2 (n - 1) / n x bytes ÷
// seconds, in bytes a second. It is what the link of each rank carries each way
// in a ring, so it does not depend on the number of ranks, and stands beside
// the rate of the link. 0 if there is no time, or no rank.
inline double BusRate(int ranks, double bytes, double seconds) {
  if (!(seconds > 0) || ranks < 1) return 0;
  return 2.0 * (ranks - 1) / ranks * bytes / seconds;
}

// The sizes of values, in bytes, at which an AllReduce is measured unless
// others are asked for: 4 KiB to 64 MiB, each four times the one before.
inline std::vector<int> AllReduceSizes() {
  std::vector<int> sizes;
  for (int bytes = 4 << 10; bytes <= 64 << 20; bytes *= 4) {
    sizes.push_back(bytes);
  }
  return sizes;
}

}  // namespace shoal

#endif  // SHOAL_BENCH_ALLREDUCE_BUS_RATE_H_
