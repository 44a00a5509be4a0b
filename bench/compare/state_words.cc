#include "bench/compare/state_words.h"

#include <array>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "bench/compare/cell_figures.h"
#include "core/worker_time.h"

namespace shoal {
namespace {

// By StepState. Each follows "its workers" and stands alone in legends.
constexpr std::array<const char*, kStepStates> kWords = {
    "compute",
    "prepare batches",
    "send requests",
    "wait for a piece of the data",
    "wait for rows to be read",
    "wait for pulled variables",
    "wait for answers to pushes",
    "wait for slower workers",
    "wait for the others of a step or the servers",
    "wait for the others of the ring or a push",
};

// Workers that wait for less than this share of a step are limited by work.
constexpr double kNextToNothing = .05;

}  // namespace

std::string StateWords(absl::string_view state) {
  for (size_t i = 0; i < kStepStates; ++i) {
    if (state == kStepStateNames[i]) return kWords[i];
  }
  return std::string(state);
}

std::string LimitWords(const Cell& cell) {
  std::set<std::string> states;
  for (const CellRun& run : cell.runs) {
    for (const auto& [state, share] : run.state_shares) states.insert(state);
  }
  double waits = 0;
  std::pair<std::string, double> work, wait;
  for (const std::string& state : states) {
    const double share = StateShare(cell, state).value_or(0);
    const bool waiting = absl::StartsWith(state, "wait_");
    if (waiting) waits += share;
    auto& most = waiting ? wait : work;
    if (share > most.second) most = {state, share};
  }
  const auto& limit = wait.second >= kNextToNothing ? wait : work;
  if (limit.second <= 0) return "";
  std::string words =
      absl::StrFormat("its workers %s %.0f %% of a step",
                      StateWords(limit.first), 100 * limit.second);
  if (&limit == &wait && waits - wait.second >= kNextToNothing) {
    absl::StrAppendFormat(&words, ", and %.0f %% for other things",
                          100 * (waits - wait.second));
  }
  return words;
}

}  // namespace shoal
