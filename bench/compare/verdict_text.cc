#include "bench/compare/verdict_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/compare/verdict_turn.h"

namespace shoal {

std::string VerdictText(const Comparison& found) {
  std::string text;
  std::vector<std::string> rules;
  for (const ModeVerdict& verdict : found.verdicts) {
    absl::StrAppend(&text, verdict.text, "\n");
    if (std::find(rules.begin(), rules.end(), verdict.rule) == rules.end()) {
      rules.push_back(verdict.rule);
    }
  }
  const bool predicted = std::any_of(
      found.verdicts.begin(), found.verdicts.end(),
      [](const ModeVerdict& verdict) { return !verdict.turn.empty(); });
  if (predicted) rules.push_back(kTurnRule);
  for (const std::string& rule : rules) {
    absl::StrAppend(&text, "Rule: ", rule, "\n");
  }
  for (const std::string& what : found.not_played) {
    absl::StrAppend(&text, "Not played: ", what, ".\n");
  }
  return text;
}

}  // namespace shoal
