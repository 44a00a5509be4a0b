#ifndef SHOAL_CORE_ADD_FLOATS_H_
#define SHOAL_CORE_ADD_FLOATS_H_

#include <cstddef>

namespace shoal {

// to[i] = to[i] + from[i] in float32, each element alone: the one addition by
// which the gradients of ranks are summed, dense or row by row, on a shard or
// in a ring. The caller decides the order of the ranks, and so the bits of the
// sum. REQUIRES: the ranges do not overlap.
inline void AddFloats(const float* __restrict from, size_t count,
                      float* __restrict to) {
  for (size_t i = 0; i < count; ++i) to[i] += from[i];
}

}  // namespace shoal

#endif  // SHOAL_CORE_ADD_FLOATS_H_
