#include "bench/compare/verdict_text.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "base/listed.h"
#include "bench/compare/cell_figures.h"
#include "bench/compare/dilation_check.h"
#include "bench/compare/grey_reason.h"
#include "bench/compare/state_words.h"
#include "bench/compare/verdict_turn.h"

namespace shoal {
namespace {

bool StreamsWereMeasured(const Comparison& found) {
  return absl::c_any_of(found.cells, [](const Cell& cell) {
    return absl::c_any_of(cell.runs, [](const CellRun& run) {
      return run.link_expected.has_value();
    });
  });
}

bool DilationWasTried(const Comparison& found) {
  return absl::c_any_of(found.cells, [](const Cell& cell) {
    return cell.dilation_difference.has_value() ||
           cell.dilation_verdict == kTriedFailed;
  });
}

bool PausesAreMadeUpFor(const Comparison& found) {
  return absl::c_any_of(found.cells, [](const Cell& cell) {
    return absl::c_any_of(cell.runs, [](const CellRun& run) {
      return run.paused_speed < 1 || !run.paused_speed_known;
    });
  });
}

// For which of the checks that were made a cell is grey (grey_reason.h,
// dilation_check.h).
std::string GreyRule(const Comparison& found) {
  std::vector<std::string> reasons = {"if a run of it failed"};
  if (StreamsWereMeasured(found)) {
    reasons.push_back(absl::StrFormat(
        "if just before a run a bare stream was not within %.0f %% of what its "
        "link has to carry",
        100 * kLinkTolerance));
  }
  if (found.where != "hosts") {
    reasons.push_back(absl::StrFormat(
        "if others used more than %.2g of a core during a run", kOthersMost));
  }
  if (PausesAreMadeUpFor(found)) {
    reasons.push_back(
        "if it could not be measured how much pauses slow its hosts down");
  }
  if (DilationWasTried(found)) {
    reasons.push_back(absl::StrFormat(
        "if its mode on its number of hosts differs from itself at twice the "
        "dilation, by more than %.0f %% and so that their spreads do not "
        "overlap, or failed when it was tried at that",
        100 * kDilationTolerance));
  }
  return absl::StrCat("A cell is grey, and in no verdict, ",
                      Listed(reasons, "or"), ".");
}

}  // namespace

std::vector<std::string> RulesOf(const Comparison& found) {
  std::vector<std::string> rules;
  const auto add = [&rules](const std::string& rule) {
    if (!absl::c_linear_search(rules, rule)) rules.push_back(rule);
  };
  bool predicted = false;
  for (const ModeVerdict& verdict : found.verdicts) {
    if (!verdict.rule.empty()) add(verdict.rule);
    predicted |= !verdict.turn.empty();
  }
  if (found.verdicts.empty()) return rules;
  add(LimitRule());
  add(GreyRule(found));
  if (predicted) add(kTurnRule);
  return rules;
}

std::string VerdictText(const Comparison& found) {
  std::string text;
  for (const ModeVerdict& verdict : found.verdicts) {
    absl::StrAppend(&text, absl::StrReplaceAll(verdict.text, {{"\n", "\n  "}}),
                    "\n");
  }
  if (!text.empty()) absl::StrAppend(&text, EqualBatchText(found), "\n");
  for (const std::string& rule : RulesOf(found)) {
    absl::StrAppend(&text, "Rule: ", rule, "\n");
  }
  for (const std::string& what : found.not_played) {
    absl::StrAppend(&text, "Not played: ", what, ".\n");
  }
  return text;
}

}  // namespace shoal
