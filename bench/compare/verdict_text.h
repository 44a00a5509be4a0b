#ifndef SHOAL_BENCH_COMPARE_VERDICT_TEXT_H_
#define SHOAL_BENCH_COMPARE_VERDICT_TEXT_H_

#include <string>
#include <vector>

#include "bench/compare/cell.h"

namespace shoal {

// What a comparison found, for a terminal: the lines of each verdict, of which
// all but the first are indented, then each rule of them once, then what was
// not played.
std::string VerdictText(const Comparison& found);

// The rules of the verdicts, each once: how the best mode is found, what limits
// a mode, when a cell is grey (of the checks that were made), and what is
// predicted.
std::vector<std::string> RulesOf(const Comparison& found);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_VERDICT_TEXT_H_
