#include "bench/compare/state_words.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
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

// "its hosts' cores are 64 % busy, their links 52 %", or as much of it as is
// known.
std::string BusyWords(const Cell& cell) {
  if (cell.straggler.has_value()) return "";
  const char* const whose = cell.hosts == 1 ? "its host's" : "its hosts'";
  std::string words;
  const std::optional<FigureSpread> cores = BusyCoresOfHost(cell);
  if (cores.has_value() && cell.cores_per_host > 0) {
    absl::StrAppendFormat(&words, "%s cores are %.0f %% busy", whose,
                          100 * cores->median / cell.cores_per_host);
  }
  const std::optional<FigureSpread> link = LinkUse(cell);
  if (!link.has_value()) return words;
  const double percent = 100 * link->median;
  return words.empty()
             ? absl::StrFormat("%s links are %.0f %% busy", whose, percent)
             : absl::StrFormat("%s, their links %.0f %%", words, percent);
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
  const std::string busy = words.empty() ? "" : BusyWords(cell);
  return busy.empty() ? words : absl::StrCat(words, "; ", busy);
}

std::string LimitRule() {
  return absl::StrFormat(
      "What limits a mode is what its workers wait for, each wait of %.0f %% "
      "of a step or more; if there is none, the work that takes longest. "
      "Workers and servers share the cores of a host: where these are busy all "
      "the time, who waits for a server or for others waits for a core. Cores "
      "are busy by the processor time of workers and servers, links by the "
      "bytes that leave a host beside the link's rate, of which headers take "
      "some 4 %% more.",
      100 * kNextToNothing);
}

}  // namespace shoal
