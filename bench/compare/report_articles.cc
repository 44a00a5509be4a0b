#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "bench/compare/cell_figures.h"
#include "bench/compare/cell_mode.h"
#include "bench/compare/html_table.h"
#include "bench/compare/report_panels.h"
#include "bench/compare/report_sections.h"
#include "report/number_text.h"
#include "report/svg_canvas.h"

namespace shoal {
namespace {

// Seconds that a host's link out is used for one of the host's samples, beside
// the processor seconds of the worker for it.
struct ShareTime {
  std::string mode;
  double link = 0;
  double compute = 0;
  bool is_long() const { return link > compute; }
};

std::optional<double> Median(const Cell& cell, RunFigure figure) {
  const std::optional<FigureSpread> spread = SpreadOf(cell, figure);
  if (!spread.has_value()) return std::nullopt;
  return spread->median;
}

// Of the cell whose link is used least; nullopt: no cell has the figures, or
// the link has no limit.
std::optional<ShareTime> TimeToShare(const std::vector<const Cell*>& cells,
                                     int hosts) {
  std::optional<ShareTime> least;
  for (const Cell* cell : cells) {
    if (cell->hosts != hosts || !WhyOut(*cell).empty() ||
        !(cell->bits_per_second > 0)) {
      continue;
    }
    const auto bytes =
        Median(*cell, [&](const CellRun& run) -> std::optional<double> {
          if (!run.bytes_per_sample) return std::nullopt;
          return BytesThatLeaveHost(*run.bytes_per_sample, hosts);
        });
    const auto compute =
        Median(*cell, [](const CellRun& run) -> std::optional<double> {
          if (!run.cpu_seconds_per_sample) return std::nullopt;
          return run.cpu_seconds_per_sample->worker;
        });
    if (!bytes.has_value() || !compute.has_value()) continue;
    const ShareTime time = {ModeName(*cell), 8 * *bytes / cell->bits_per_second,
                            *compute};
    if (!least.has_value() || time.link < least->link) least = time;
  }
  return least;
}

// The verdict on the cells of a panel with so many hosts and no slow one;
// nullptr: there is none.
const ModeVerdict* VerdictOf(const Comparison& comparison,
                             const ReportPanel& panel, int hosts) {
  const auto any =
      std::find_if(panel.cells.begin(), panel.cells.end(),
                   [&](const Cell* cell) { return cell->hosts == hosts; });
  if (any == panel.cells.end()) return nullptr;
  for (const ModeVerdict& verdict : comparison.verdicts) {
    if (verdict.model == panel.model && verdict.network == panel.network &&
        verdict.hosts == hosts && !verdict.straggler.has_value() &&
        verdict.batch_size == (*any)->batch_size &&
        verdict.compute == (*any)->compute) {
      return &verdict;
    }
  }
  return nullptr;
}

std::string WonText(
    const std::map<std::string, std::vector<std::string>>& won) {
  if (won.empty()) return "<p class=\"won\">no cell of this comparison</p>";
  std::string html;
  for (const auto& [mode, where] : won) {
    absl::StrAppend(&html, "<p class=\"won\"><b>", EscapeMarkup(mode),
                    "</b>: ", EscapeMarkup(absl::StrJoin(where, "; ")), "</p>");
  }
  return html;
}

std::string ArticleCell(absl::string_view said, absl::string_view here) {
  return absl::StrCat("<td><p class=\"said\">the articles: ",
                      EscapeMarkup(said), "</p>", here, "</td>");
}

}  // namespace

std::string ArticlesSection(const Comparison& comparison) {
  HtmlTable table("articles", "What is a long time here",
                  {{"model", "model", false},
                   {"batch", "equal batch"},
                   {"network", "network", false},
                   {"hosts", "hosts"},
                   {"mode", "by the link of", false},
                   {"link", "link, µs a sample"},
                   {"compute", "worker, µs a sample"},
                   {"time", "time to share", false},
                   {"won", "won here", false}});
  std::map<std::string, std::vector<std::string>> won[2];  // short, long
  std::set<int> batches;
  for (const ReportPanel& panel : PanelsOf(comparison)) {
    batches.insert(panel.batch);
  }
  for (const ReportPanel& panel : PanelsOf(comparison)) {
    for (const int hosts : HostsOf(panel.cells)) {
      const ModeVerdict* verdict = VerdictOf(comparison, panel, hosts);
      const std::optional<ShareTime> time = TimeToShare(panel.cells, hosts);
      if (hosts == 1 || verdict == nullptr || !time.has_value()) continue;
      const std::string best =
          verdict->best.empty() ? "no best mode" : verdict->best;
      const std::string batch = WithCommas(static_cast<uint64_t>(panel.batch));
      won[time->is_long()][best].push_back(absl::StrCat(
          panel.model, ", ", HostsText(hosts), ", ", panel.network,
          batches.size() > 1 ? absl::StrCat(", batch ", batch) : ""));
      table.AddRow(
          absl::StrCat(panel.model, "_", panel.batch, "_", panel.network, "_",
                       hosts),
          false,
          {panel.model, batch, panel.network, absl::StrCat(hosts), time->mode,
           FigureText(time->link * 1e6), FigureText(time->compute * 1e6),
           time->is_long() ? "long" : "short", best});
    }
  }
  const char* not_measured =
      "<p class=\"won\">not measured: this comparison has no GPU cells</p>";
  std::string html = HtmlParagraph(
      "The articles on parameter servers and Horovod that this comparison "
      "follows advise by a table of four cells: the processor, and the time "
      "that it takes to share gradients. Here the time is long where the link "
      "of a host is used longer for a sample than the worker computes: 8 × "
      "bytes that leave the host ÷ bits a second, in the mode that uses the "
      "link least and is not out of verdicts, beside the processor seconds of "
      "the workers.");
  absl::StrAppend(
      &html,
      "<figure>\n<table class=\"four\" data-table=\"four_cells\">\n"
      "<tr><th></th><th>short time to share gradients</th>"
      "<th>long time to share gradients</th></tr>\n<tr><th>CPU</th>",
      ArticleCell("a parameter server", WonText(won[0])),
      ArticleCell("a parameter server", WonText(won[1])),
      "</tr>\n<tr><th>GPU</th>", ArticleCell("a ring (Horovod)", not_measured),
      ArticleCell("a parameter server, or one host with several GPUs",
                  not_measured),
      "</tr>\n</table>\n");
  absl::StrAppend(
      &html,
      table.empty()
          ? HtmlParagraph(
                "No cell of this table could be filled: no network with a "
                "limit has both a verdict and computed cells.",
                "left-out")
          : table.Html(),
      "</figure>\n");
  return ReportSection("articles", "The articles' table, with what won here",
                       html);
}

}  // namespace shoal
