#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "bench/compare/cell_figures.h"
#include "bench/compare/html_table.h"
#include "bench/compare/report_panels.h"
#include "bench/compare/report_sections.h"
#include "bench/compare/verdict_text.h"
#include "core/training_mode.h"
#include "report/svg_canvas.h"

namespace shoal {
namespace {

std::string BestText(const ModeVerdict& verdict) {
  return verdict.best.empty() ? "No best mode" : verdict.best;
}

// "A, 2 hosts, 1gbit, batch 1024".
std::string PlaceText(const ModeVerdict& verdict) {
  std::string text =
      absl::StrCat(verdict.model, ", ", HostsText(verdict.hosts));
  if (verdict.network != "none") absl::StrAppend(&text, ", ", verdict.network);
  absl::StrAppend(&text, ", batch ", verdict.batch_size);
  if (verdict.straggler.has_value()) {
    absl::StrAppend(&text, ", with a slow host");
  }
  return text;
}

// "ring", "no difference: ring, sync", or "–": nothing was compared.
std::string FirstText(const ModeVerdict& verdict) {
  if (!verdict.best.empty()) return verdict.best;
  if (verdict.first.size() < 2) return "–";
  return absl::StrCat("no difference: ", absl::StrJoin(verdict.first, ", "));
}

// "ssp 1.12, ring 1.43".
std::string BehindText(const ModeVerdict& verdict) {
  if (verdict.behind.empty()) return "–";
  return absl::StrJoin(
      verdict.behind, ", ", [](std::string* out, const ModeBehind& behind) {
        absl::StrAppend(out, behind.mode, " ",
                        behind.times.has_value()
                            ? absl::StrFormat("%.2f", *behind.times)
                            : "(target not reached)");
      });
}

// All verdicts at a glance; "" for files of older versions.
std::string VerdictTable(const Comparison& comparison) {
  HtmlTable table(
      "verdicts",
      absl::StrCat("All verdicts. ", EqualBatchText(comparison),
                   " Behind it: how many times as long a mode takes as the "
                   "first one"),
      {{"model", "model", false},
       {"hosts", "hosts"},
       {"network", "network", false},
       {"batch", "batch of a worker"},
       {"slow_host", "slow host", false},
       {"compute", "compute", false},
       {"first", "first", false},
       {"behind", "behind it", false},
       {"out", "out of verdicts", false}});
  bool known = false;
  for (const ModeVerdict& verdict : comparison.verdicts) {
    known |= !verdict.first.empty() || !verdict.out.empty();
    table.AddRow(
        PlaceText(verdict), false,
        {verdict.model, absl::StrCat(verdict.hosts), verdict.network,
         absl::StrCat(verdict.batch_size),
         verdict.straggler.has_value() ? "yes" : "no", verdict.compute,
         FirstText(verdict), BehindText(verdict),
         verdict.out.empty() ? "–" : absl::StrJoin(verdict.out, ", ")});
  }
  return known ? table.Html() : "";
}

// Why of some verdicts it is not said where they would turn, each reason once.
std::string NoTurnText(const Comparison& comparison) {
  std::vector<std::string> reasons;  // in the order of the verdicts
  std::map<std::string, std::vector<std::string>> places;
  for (const ModeVerdict& verdict : comparison.verdicts) {
    if (verdict.no_turn.empty()) continue;
    std::vector<std::string>* const of = &places[verdict.no_turn];
    if (of->empty()) reasons.push_back(verdict.no_turn);
    of->push_back(PlaceText(verdict));
  }
  for (std::string& reason : reasons) {
    reason = absl::StrCat(absl::StrJoin(places[reason], "; "), ": ", reason);
  }
  return reasons.empty()
             ? ""
             : absl::StrCat("<h3>What is not predicted, and why</h3>\n",
                            HtmlList(reasons));
}

// For a reader who has the report alone.
std::string ModesText() {
  std::vector<std::string> modes;
  for (const TrainingModeRow& mode : kTrainingModes) {
    modes.push_back(absl::StrCat(mode.word, " ", mode.help));
  }
  return absl::StrCat(
      "<h3>What the modes do</h3>\n",
      HtmlParagraph("Each host has a worker, and in all modes but ring a "
                    "server, which holds its part of the variables."),
      HtmlList(modes));
}

}  // namespace

std::string VerdictSection(const Comparison& comparison) {
  if (comparison.verdicts.empty()) {
    return ReportSection(
        "verdict", "Verdict",
        HtmlParagraph("There is no verdict: no two modes were measured on the "
                      "same hosts, network and model.",
                      "left-out"));
  }
  std::string html = VerdictTable(comparison);
  for (const ModeVerdict& verdict : comparison.verdicts) {
    std::vector<std::string> lines = absl::StrSplit(verdict.text, '\n');
    // The first line names the model, the hosts and the network.
    absl::StrAppend(&html, "<p class=\"verdict\" data-best=\"",
                    EscapeMarkup(verdict.best), "\"><b>",
                    EscapeMarkup(BestText(verdict)), "</b> – ",
                    EscapeMarkup(lines[0]), "</p>\n");
    lines.erase(lines.begin());
    html += HtmlList(lines);
  }
  html += "<h3>Rules of the verdicts</h3>\n";
  html += HtmlList(RulesOf(comparison));
  html += NoTurnText(comparison);
  html += ModesText();
  return ReportSection("verdict", "Verdict", html);
}

}  // namespace shoal
