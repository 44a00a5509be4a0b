#ifndef SHOAL_BENCH_COMPARE_VERDICT_TEXT_H_
#define SHOAL_BENCH_COMPARE_VERDICT_TEXT_H_

#include <string>

#include "bench/compare/cell.h"

namespace shoal {

// What a comparison found, for a terminal: a line for each verdict, then each
// rule of them once, then what was not played.
std::string VerdictText(const Comparison& found);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_VERDICT_TEXT_H_
