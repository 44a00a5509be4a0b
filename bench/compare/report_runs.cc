#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/counted.h"
#include "bench/compare/cell_figures.h"
#include "bench/compare/cell_mode.h"
#include "bench/compare/dilation.h"
#include "bench/compare/html_table.h"
#include "bench/compare/report_panels.h"
#include "bench/compare/report_sections.h"
#include "report/number_text.h"

namespace shoal {
namespace {

std::string StragglerText(const Cell& cell) {
  if (!cell.straggler.has_value()) return "";
  return absl::StrCat("host ", cell.straggler->host, " at ",
                      SettingText(cell.straggler->share));
}

// "async on 2 hosts", "replayed async on 2 hosts".
std::string ModeOnHosts(const Cell& cell) {
  return absl::StrCat(cell.replayed() ? "replayed " : "", ModeName(cell),
                      " on ", HostsText(cell.hosts));
}

// What the tries of a mode and number of hosts say (Cell::dilation_verdict).
std::string DilationVerdictText(const std::string& verdict) {
  return verdict == kTriedSame           ? "as fast"
         : verdict == kTriedWithinSpread ? "spreads overlap"
         : verdict == kTriedDiffers      ? "out of verdicts"
         : verdict == kTriedFailed       ? "a try failed: out of verdicts"
                                         : "–";
}

// How much slower hosts were because a lab pauses them; "" if they were not, or
// it was not measured.
std::string PausesText(const Comparison& comparison) {
  std::vector<double> speeds;
  int no_more = 0;      // runs
  double too_slow = 0;  // most that was not made up for
  for (const Cell& cell : comparison.cells) {
    const double least = LeastPausedSpeed(cell, comparison.cores);
    for (const CellRun& run : cell.runs) {
      if (!run.paused_speed_known) continue;  // a guess; its cell says so
      if (run.paused_speed < 1) {
        speeds.push_back(run.paused_speed);
        too_slow = std::max(too_slow, 1 - run.paused_speed / least);
      } else if (cell.dilation > 1) {
        ++no_more;
      }
    }
  }
  const auto spread = SpreadOfValues(std::move(speeds));
  if (!spread.has_value()) return "";
  std::string text = absl::StrFormat(
      "A host that is played slowly is paused most of the time. Meanwhile "
      "others use the caches, so a sample takes it more processor time than a "
      "host that is never paused. One host of each model was measured with and "
      "without pauses, in each kind of mode, and anew from time to time: with "
      "them it had %.2f of its speed (%.2f to %.2f, its paused speed). The "
      "hosts of a run got 1 / paused speed times the processor time, and "
      "processor times in this report are those of a host that is never "
      "paused. All modes of a model have it in common, so how far it is off "
      "is not in the spread of their runs, and hardly changes their order.",
      spread->median, spread->least, spread->most);
  if (no_more > 0) {
    absl::StrAppendFormat(&text,
                          " In %s hosts got no more, since pauses cost "
                          "nothing.",
                          Counted(static_cast<uint64_t>(no_more), "run"));
  }
  if (too_slow > 0) {
    absl::StrAppendFormat(
        &text,
        " The machine does not have as much for all cells: their hosts were up "
        "to %.0f %% too slow.",
        100 * too_slow);
  }
  return HtmlParagraph(text);
}

// Of which modes and hosts it was tried whether the dilation changes figures.
std::string DilationCheckText(const Comparison& comparison) {
  if (comparison.where != "lab") return "";  // nothing is dilated
  std::vector<const Cell*> cells;
  for (const Cell& cell : comparison.cells) cells.push_back(&cell);
  std::stable_sort(cells.begin(), cells.end(), CellBefore);
  HtmlTable table("dilation",
                  "Samples/s at twice the dilation, beside those at the "
                  "dilation itself: medians",
                  {{"mode", "mode", false},
                   {"compute", "compute", false},
                   {"hosts", "hosts"},
                   {"difference", "difference"},
                   {"means", "which means", false}});
  std::set<std::string> tried;
  for (const Cell* cell : cells) {
    const std::optional<double> difference = cell->dilation_difference;
    if (!difference && cell->dilation_verdict != kTriedFailed) continue;
    const std::string name = ModeOnHosts(*cell);
    if (!tried.insert(name).second) continue;
    table.AddRow(name, false,
                 {ModeName(*cell), cell->compute, absl::StrCat(cell->hosts),
                  difference ? DifferenceText(1 + *difference, 1) : "–",
                  DilationVerdictText(cell->dilation_verdict)});
  }
  std::vector<std::string> untried;
  for (const Cell* cell : cells) {
    const std::string name = ModeOnHosts(*cell);
    if (tried.insert(name).second) untried.push_back(name);
  }
  std::string html = "<h3>Does the dilation change the figures?</h3>\n";
  html += PausesText(comparison);
  if (table.empty()) {
    return html + HtmlParagraph(
                      "It is not known: no cell was tried at twice its "
                      "dilation.");
  }
  html += HtmlParagraph(
      "Each mode and number of hosts was tried on the first model, batch and "
      "network, played twice as slow, and stands for the others. If the tries "
      "of a mode differ by more than 5 %, with spreads that do not overlap, "
      "all cells on so many hosts are measured again, as slow as the tries, "
      "and the next tries are twice as slow as that; the table has the last "
      "ones. The cells of a mode that differs then too are out of verdicts, as "
      "they are if the comparison was stopped before. The table of runs has "
      "the dilation of each.");
  html += table.Html();
  html += HtmlParagraph(
      untried.empty()
          ? "All modes and numbers of hosts were tried."
          : absl::StrCat("Not tried, or disturbed each time, so that it is not "
                         "known of them: ",
                         absl::StrJoin(untried, ", "), "."));
  return html;
}

}  // namespace

std::string NotPlayedSection(const Comparison& comparison) {
  std::string html;
  if (comparison.not_played.empty()) {
    html = HtmlParagraph(comparison.where == "hosts"
                             ? "Nothing was played: these were real hosts."
                             : "The comparison lists nothing.");
  } else {
    html = HtmlList(comparison.not_played);
  }
  html += "<h3>Cells that are out of verdicts</h3>\n";
  HtmlTable table("out", "",
                  {{"cell", "cell", false},
                   {"compute", "compute", false},
                   {"grey", "out of verdicts because", false}});
  for (const Cell& cell : comparison.cells) {
    const std::string out = WhyOut(cell);
    if (!out.empty()) {
      table.AddRow(cell.name, true, {cell.name, cell.compute, out});
    }
  }
  html += table.empty() ? HtmlParagraph("None: every cell is in its verdict.")
                        : table.Html();
  html += DilationCheckText(comparison);
  return ReportSection("not_played", "What was not played", html);
}

std::string RunsSection(const Comparison& comparison) {
  const bool watched = comparison.where != "hosts";
  HtmlTable table(
      "runs",
      absl::StrCat("Every run: its cell, and the checks just before it and "
                   "meanwhile. The stream is what one bare connection passed "
                   "between two hosts. ",
                   EqualBatchText(comparison)),
      {{"cell", "cell", false},
       {"compute", "compute", false},
       {"dilation", "dilation"},
       {"repeat", "repeat"},
       {"learning_rate", "learning rate"},
       {"straggler", "slow host", false},
       {"seconds", "run, s"},
       {"samples_per_second", "samples/s"},
       {"step_p99", "step, ms (99 %)"},
       {"auc", "AUC"},
       {"link", "stream, Mbit/s"},
       {"link_expected", "expected"},
       {"others_cores", "cores of others"},
       {"paused_speed", "paused speed"},
       {"ok", "ended", false}});
  for (const Cell& cell : comparison.cells) {
    for (const CellRun& run : cell.runs) {
      const auto megabits = [](const std::optional<double>& bits) {
        return bits ? FigureText(*bits / 1e6) : "–";
      };
      table.AddRow(
          absl::StrCat(cell.name, "#", run.repeat + 1), !WhyOut(cell).empty(),
          {cell.name, cell.compute, FigureText(cell.dilation),
           absl::StrCat(run.repeat + 1), SettingText(cell.learning_rate),
           StragglerText(cell), FigureText(run.seconds),
           FigureText(run.samples_per_second),
           run.step_seconds ? FigureText(run.step_seconds->p99 * 1e3) : "–",
           FigureText(run.auc), megabits(run.link_bits_per_second),
           megabits(run.link_expected),
           watched ? absl::StrFormat("%.2f", run.others_cores) : "–",
           FigureText(run.paused_speed), run.ok ? "well" : run.error});
    }
  }
  return ReportSection(
      "runs", "All runs",
      table.empty() ? LeftOut("nothing was run") : table.Html());
}

}  // namespace shoal
