#ifndef SHOAL_BENCH_COMPARE_NOT_PLAYED_H_
#define SHOAL_BENCH_COMPARE_NOT_PLAYED_H_

#include <string>
#include <vector>

#include "bench/compare/cell.h"

namespace shoal {

// What these cells leave out of the clusters that they stand for, in words, for
// the report and compare.json. `where`: that of the Comparison.
std::vector<std::string> NotPlayed(const std::string& where,
                                   const std::vector<Cell>& cells);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_NOT_PLAYED_H_
