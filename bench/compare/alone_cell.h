#ifndef SHOAL_BENCH_COMPARE_ALONE_CELL_H_
#define SHOAL_BENCH_COMPARE_ALONE_CELL_H_

#include "bench/compare/cell.h"

namespace shoal {

// One host of `cell` by itself: computed, without a network, a slow host or
// backup workers. It tells how fast such a host is. Pure.
Cell AloneOf(Cell cell);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_ALONE_CELL_H_
