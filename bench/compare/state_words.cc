#include "bench/compare/state_words.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "bench/compare/cell_figures.h"
#include "bench/compare/cell_mode.h"
#include "core/worker_time.h"

namespace shoal {
namespace {

// Of wait_ring, where the mode has servers.
constexpr char kOrAPush[] = " or a push";
// Of wait_step and wait_ring, where there are no others.
constexpr char kTheServersAlone[] = "wait for the servers";
constexpr char kOwnCopyAlone[] = "wait for their own copy of the variables";
constexpr char kAPushAlone[] = "wait for a push";
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

// For this cell: without those whom it does not have.
std::string WordsFor(const Cell& cell, const std::string& state) {
  const auto is = [&](StepState of) {
    return state == kStepStateNames[static_cast<size_t>(of)];
  };
  if (cell.hosts == 1 && is(StepState::kWaitStep)) return kTheServersAlone;
  const bool servers = ModeRowOf(cell).servers;
  if (cell.hosts == 1 && is(StepState::kWaitRing)) {
    return servers ? kAPushAlone : kOwnCopyAlone;
  }
  const std::string words = StateWords(state);
  return servers ? words : std::string(absl::StripSuffix(words, kOrAPush));
}

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
  using ShareAndWords = std::pair<double, std::string>;
  ShareAndWords work;
  std::vector<ShareAndWords> waits;
  for (const std::string& state : states) {
    const ShareAndWords here = {StateShare(cell, state).value_or(0),
                                WordsFor(cell, state)};
    if (!absl::StartsWith(state, "wait_")) {
      work = std::max(work, here);
    } else if (here.first >= kNextToNothing) {
      waits.push_back(here);
    }
  }
  std::sort(waits.rbegin(), waits.rend());
  if (waits.empty() && work.first > 0) waits.push_back(work);
  std::string words;
  for (const auto& [share, what] : waits) {
    if (words.empty()) {
      absl::StrAppendFormat(&words, "its workers %s %.0f %% of a step", what,
                            100 * share);
    } else {
      absl::StrAppendFormat(&words, ", %s %.0f %%",
                            absl::StripPrefix(what, "wait "), 100 * share);
    }
  }
  return words;
}

std::string LimitRule() {
  return absl::StrFormat(
      "What limits a mode is what its workers wait for, each wait of %.0f %% "
      "of a step or more; if there is none, the work that takes longest.",
      100 * kNextToNothing);
}

}  // namespace shoal
