#ifndef SHOAL_BENCH_MICRO_GLOO_RING_H_
#define SHOAL_BENCH_MICRO_GLOO_RING_H_

#include <cstddef>
#include <functional>
#include <vector>

namespace shoal {

// Gloo's ring AllReduce between ranks of this process, over loopback: for each
// rank a function that blocks until the sums are there. Aborts if Gloo cannot
// make the connections.
std::vector<std::function<void(float* values, size_t length)>> MakeGlooSums(
    int size);

}  // namespace shoal

#endif  // SHOAL_BENCH_MICRO_GLOO_RING_H_
