#ifndef SHOAL_BENCH_COMPARE_STATE_WORDS_H_
#define SHOAL_BENCH_COMPARE_STATE_WORDS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "bench/compare/cell.h"

namespace shoal {

// What a worker does in a state of a step, in plain words, for verdicts,
// pictures and tables alike: "wait_pull" is "wait for pulled variables". A
// state that this version does not know is its own word.
std::string StateWords(absl::string_view state);

// What limits the cell: the state in which its workers wait longest, or, if
// they wait for next to nothing, the work that takes longest, by the mean of
// its runs: "its workers wait for pulled variables 58 % of a step, and 12 % for
// other things" (the latter if other waits are more than next to nothing).
// Empty: no run told the states of its workers.
std::string LimitWords(const Cell& cell);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_STATE_WORDS_H_
