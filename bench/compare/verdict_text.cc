#include "bench/compare/verdict_text.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "base/listed.h"
#include "bench/compare/cell_figures.h"
#include "bench/compare/dilation_check.h"
#include "bench/compare/grey_reason.h"
#include "bench/compare/state_words.h"
#include "bench/compare/verdict_turn.h"

namespace shoal {
namespace {

// By which limits a cell is grey where the hosts are (grey_reason.h,
// dilation_check.h).
std::string GreyRule(absl::string_view where) {
  std::vector<std::string> reasons = {"if a run of it failed"};
  if (where == "lab") {
    reasons.push_back(absl::StrFormat(
        "if just before a run a bare stream was not within %.0f %% of what its "
        "link has to carry",
        100 * kLinkTolerance));
  }
  if (where != "hosts") {
    reasons.push_back(absl::StrFormat(
        "if others used more than %.2g of a core during a run", kOthersMost));
  }
  if (where == "lab") {
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
  add(GreyRule(found.where));
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
