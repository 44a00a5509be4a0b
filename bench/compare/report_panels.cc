#include "bench/compare/report_panels.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/counted.h"
#include "bench/compare/cell_figures.h"
#include "bench/compare/cell_mode.h"
#include "bench/compare/html_table.h"
#include "report/number_text.h"
#include "report/svg_canvas.h"

namespace shoal {
namespace {

constexpr absl::string_view kOut = "out of verdicts: ";

int EqualBatch(const Comparison& comparison, const Cell& cell) {
  return comparison.equal_batch == "global" ? cell.global_batch
                                            : cell.batch_size;
}

std::string Capital(absl::string_view text) {
  std::string result(text);
  if (!result.empty()) result[0] = absl::ascii_toupper(result[0]);
  return result;
}

auto Order(const Cell& cell) {
  return std::tuple(cell.hosts, ModeOrder(cell), cell.ssp_bound,
                    cell.backup_workers, cell.replayed(), cell.name);
}

std::string Title(const Comparison& comparison, const std::string& model,
                  int batch, const std::string& network) {
  return absl::StrCat(
      "model ", model, ", batch of ", WithCommas(static_cast<uint64_t>(batch)),
      comparison.equal_batch == "global" ? " over all workers" : " a worker",
      network == "none" ? "" : absl::StrCat(", network ", network));
}

}  // namespace

std::vector<ReportPanel> PanelsOf(const Comparison& comparison) {
  // Bandwidth in ascending order; no limit comes last.
  using Key = std::tuple<std::string, int, bool, double, std::string>;
  const auto key = [&](const Cell& cell) {
    return Key(cell.model, EqualBatch(comparison, cell),
               cell.bits_per_second == 0, cell.bits_per_second, cell.network);
  };
  std::set<Key> keys;
  for (const Cell& cell : comparison.cells) {
    if (!cell.straggler.has_value() && cell.hosts > 1) keys.insert(key(cell));
  }
  std::vector<std::pair<Key, ReportPanel>> panels;
  const auto add = [&](const Key& k) {
    ReportPanel panel;
    panel.model = std::get<0>(k);
    panel.batch = std::get<1>(k);
    panel.network = std::get<4>(k);
    panels.emplace_back(k, std::move(panel));
  };
  for (const Key& k : keys) add(k);
  for (const Cell& cell : comparison.cells) {
    if (cell.straggler.has_value()) continue;
    const Key own = key(cell);
    bool placed = false;
    for (auto& [k, panel] : panels) {
      if (k == own) {
        panel.cells.push_back(&cell);
        placed = true;
      }
    }
    if (cell.hosts > 1) continue;
    for (auto& [k, panel] : panels) {
      const bool same = std::get<0>(k) == std::get<0>(own) &&
                        std::get<1>(k) == std::get<1>(own);
      if (!same || k == own) continue;
      const bool has_own = std::any_of(
          comparison.cells.begin(), comparison.cells.end(),
          [&, &panel_key = k](const Cell& other) {
            return other.hosts == 1 && !other.straggler.has_value() &&
                   other.compute == cell.compute && key(other) == panel_key &&
                   ModeName(other) == ModeName(cell);
          });
      placed = true;
      if (!has_own) panel.cells.push_back(&cell);
    }
    if (!placed) {  // only one host was measured
      add(own);
      panels.back().second.cells.push_back(&cell);
    }
  }
  std::vector<ReportPanel> result;
  for (auto& [k, panel] : panels) {
    std::stable_sort(panel.cells.begin(), panel.cells.end(), CellBefore);
    result.push_back(std::move(panel));
  }
  return result;
}

bool CellBefore(const Cell* a, const Cell* b) { return Order(*a) < Order(*b); }

std::string PanelTitle(const Comparison& comparison, const ReportPanel& panel) {
  return Title(comparison, panel.model, panel.batch, panel.network);
}

std::string PanelTitle(const Comparison& comparison, const Cell& cell) {
  return Title(comparison, cell.model, EqualBatch(comparison, cell),
               cell.network);
}

std::vector<int> HostsOf(const std::vector<const Cell*>& cells) {
  std::set<int> hosts;
  for (const Cell* cell : cells) hosts.insert(cell->hosts);
  return {hosts.begin(), hosts.end()};
}

ChartLook LookOf(const Cell& cell) {
  if (!WhyOut(cell).empty()) return ChartLook::kGrey;
  return cell.replayed() ? ChartLook::kHollow : ChartLook::kFull;
}

void SetFrame(absl::string_view id, absl::string_view title,
              absl::string_view about, ChartFrame* frame) {
  frame->id = std::string(id);
  frame->title = std::string(title);
  frame->about = std::string(about);
  frame->width = 860;
  frame->hollow_means = "replayed";
  frame->grey_means = "out of verdicts";
}

std::string HostsText(int hosts) {
  return Counted(static_cast<uint64_t>(hosts), "host");
}

std::vector<BarGroup> BarsByHosts(
    const std::vector<const Cell*>& cells,
    absl::FunctionRef<std::optional<ChartBar>(const Cell&)> bar) {
  std::vector<BarGroup> groups;
  for (const int hosts : HostsOf(cells)) {
    BarGroup group;
    group.title = HostsText(hosts);
    for (const Cell* cell : cells) {
      if (cell->hosts != hosts) continue;
      std::optional<ChartBar> made = bar(*cell);
      if (!made.has_value()) continue;
      made->label = ModeName(*cell);
      made->look = LookOf(*cell);
      made->tip = absl::StrCat(cell->name, WhyOut(*cell).empty() ? "" : ": ",
                               WhyOut(*cell));
      group.bars.push_back(*std::move(made));
    }
    if (!group.bars.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<ChartKey> StylesOnly() {
  std::vector<ChartKey> keys;
  for (int style = 0; style < kChartStyles; ++style) {
    keys.push_back({"", style});
  }
  return keys;
}

std::string CellTable(const Comparison& comparison, absl::string_view name,
                      absl::string_view caption,
                      const std::vector<const Cell*>& cells,
                      const std::vector<CellColumn>& columns) {
  std::vector<HtmlColumn> headings = {{"mode", "mode", false},
                                      {"hosts", "hosts"},
                                      {"batch_size", "batch of a worker"},
                                      {"global_batch", "of all"},
                                      {"compute", "compute", false}};
  for (const CellColumn& column : columns) {
    headings.push_back({column.key, column.heading});
  }
  HtmlTable table(
      std::string(name),
      absl::StrCat(Capital(caption), ". ", EqualBatchText(comparison)),
      std::move(headings));
  for (const Cell* cell : cells) {
    std::vector<std::string> texts = {
        ModeName(*cell), absl::StrCat(cell->hosts),
        WithCommas(static_cast<uint64_t>(cell->batch_size)),
        WithCommas(static_cast<uint64_t>(cell->global_batch)), cell->compute};
    for (const CellColumn& column : columns) {
      texts.push_back(column.text(*cell));
    }
    const std::string out = WhyOut(*cell);
    table.AddRow(cell->name, !out.empty(), texts);
    if (!out.empty()) {
      table.AddNote(cell->name, "grey", absl::StrCat(kOut, out));
    }
  }
  return table.Html();
}

std::string ReportSection(absl::string_view id, absl::string_view heading,
                          absl::string_view html) {
  return absl::StrCat("<section id=\"", id, "\">\n<h2>", EscapeMarkup(heading),
                      "</h2>\n", html, "</section>\n");
}

std::string LeftOut(absl::string_view why) {
  return HtmlParagraph(absl::StrCat("There is no picture here: ", why, "."),
                       "left-out");
}

}  // namespace shoal
