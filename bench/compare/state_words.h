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

// What limits the cell, by the mean of its runs: what its workers wait for,
// from the longest wait down to 5 % of a step, such as "its workers wait for
// pulled variables 58 % of a step, for answers to pushes 12 %"; or, if no wait
// is as long, the work that takes longest. Then how busy its hosts are, by the
// medians: "its hosts' cores are 64 % busy, their links 52 %"; each as far as
// it is known, and neither with a slow host, which has cores of its own. Empty:
// no run told the states of its workers.
std::string LimitWords(const Cell& cell);
// The rule of LimitWords, for a reader.
std::string LimitRule();

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_STATE_WORDS_H_
