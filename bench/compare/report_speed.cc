#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/compare/cell_figures.h"
#include "bench/compare/cell_mode.h"
#include "bench/compare/html_table.h"
#include "bench/compare/report_panels.h"
#include "bench/compare/report_sections.h"
#include "report/svg_chart.h"

namespace shoal {
namespace {

std::string EfficiencyText(const std::optional<double>& efficiency) {
  return efficiency.has_value() ? absl::StrFormat("%.2f", *efficiency) : "–";
}

LineChart SpeedChart(const Comparison& comparison, const ReportPanel& panel) {
  LineChart chart;
  chart.x = {"hosts", AxisScale::kLog};
  for (const int hosts : HostsOf(panel.cells)) {
    chart.x.ticks.push_back({static_cast<double>(hosts), absl::StrCat(hosts)});
  }
  chart.y = {"samples/s of all workers"};
  chart.dodge = 5;
  chart.height = 440;
  // A replayed cell is not on the line of the computed ones: its computation is
  // played.
  std::map<std::pair<std::string, bool>, size_t> lines;
  for (const Cell* cell : panel.cells) {
    const std::optional<FigureSpread> rate = SamplesPerSecond(*cell);
    if (!rate.has_value()) continue;
    const auto [line, is_new] = lines.try_emplace(
        {ModeName(*cell), cell->replayed()}, chart.series.size());
    if (is_new) chart.series.push_back({ModeName(*cell), ModeStyle(*cell), {}});
    LinePoint point = {static_cast<double>(cell->hosts), rate->median};
    if (rate->count > 1) {
      point.low = rate->least;
      point.high = rate->most;
    }
    const std::optional<double> efficiency = Efficiency(comparison, *cell);
    if (cell->hosts > 1 && efficiency.has_value()) {
      point.label = EfficiencyText(efficiency);
    }
    point.look = LookOf(*cell);
    point.tip = absl::StrCat(cell->name, ": ", SpreadText(rate), " samples/s",
                             WhyOut(*cell).empty() ? "" : "; ", WhyOut(*cell));
    chart.series[line->second].points.push_back(std::move(point));
  }
  // The name beside the last point, so that no legend is needed to read it.
  for (const auto& [name, line] : lines) {
    LineSeries& series = chart.series[line];
    const bool replayed = name.second;
    LinePoint& last = series.points.back();
    absl::StrAppend(&last.label, last.label.empty() ? "" : "  ", series.name,
                    replayed ? ", replayed" : "");
    // The legend has each mode once.
    if (replayed && lines.contains({name.first, false})) series.name.clear();
  }
  // Lines in the order of the modes, not of their first points.
  std::stable_sort(chart.series.begin(), chart.series.end(),
                   [](const LineSeries& a, const LineSeries& b) {
                     return a.style < b.style;
                   });
  return chart;
}

std::string SlowHost(const Cell& cell) {
  return absl::StrFormat("host %d at %s of its speed", cell.straggler->host,
                         SettingText(cell.straggler->share));
}

}  // namespace

std::string SpeedSection(const Comparison& comparison) {
  std::string html = HtmlParagraph(
      "Median of the runs, with a bar from the least to the largest. Beside "
      "each point: the efficiency T(n) / (n · T(1)), where T(n) is the median "
      "of samples/s on n hosts. 1.00 means that n hosts are n times as fast as "
      "one. A computed cell is beside a computed one, and a replayed cell, "
      "which takes recorded times in place of computing and is on a line of "
      "its own, beside a replayed one. There is no efficiency where the cell "
      "of one host was not measured or is out of verdicts. An epoch is all "
      "rows of the data at this speed. Where hosts were played, the table has "
      "the dilation t: an efficiency beside a host of another t also has what "
      "a host loses by being played more slowly.");
  int number = 0;
  for (const ReportPanel& panel : PanelsOf(comparison)) {
    LineChart chart = SpeedChart(comparison, panel);
    if (chart.series.empty()) continue;
    const std::string title = PanelTitle(comparison, panel);
    SetFrame(
        absl::StrCat("speed", ++number),
        absl::StrCat("Samples/s over hosts: ", title),
        absl::StrCat("Lines of samples per second over hosts, one for each "
                     "mode: ",
                     title, ". The table below has the figures."),
        &chart);
    std::vector<CellColumn> columns = {
        {"samples_per_second", "samples/s",
         [](const Cell& c) { return SpreadText(SamplesPerSecond(c)); }},
        {"efficiency", "T(n)/(n·T(1))",
         [&](const Cell& c) {
           return EfficiencyText(Efficiency(comparison, c));
         }},
        {"step_p50", "a step, ms (median)",
         [](const Cell& c) {
           return SpreadText(SpreadOf(c,
                                      [](const CellRun& r) {
                                        return r.step_seconds.has_value()
                                                   ? std::optional<double>(
                                                         r.step_seconds->p50)
                                                   : std::nullopt;
                                      }),
                             1e3);
         }},
        {"epoch_seconds", "an epoch, s", [](const Cell& c) {
           return SpreadText(
               SpreadOf(c, [](const CellRun& r) { return r.epoch_seconds; }));
         }}};
    if (comparison.where == "lab") {
      columns.push_back({"dilation", "dilation t",
                         [](const Cell& c) { return FigureText(c.dilation); }});
    }
    if (const auto price = comparison.price_per_host_hour) {
      columns.push_back(
          {"epoch_cost", "cost of an epoch", [price = *price](const Cell& c) {
             return SpreadText(CostOf(c, price, &CellRun::epoch_seconds));
           }});
    }
    absl::StrAppend(&html, "<figure>\n", DrawLineChart(chart),
                    CellTable(comparison, "speed", title, panel.cells, columns),
                    "</figure>\n");
  }
  if (number == 0) html += LeftOut("no run ended well");
  return ReportSection("speed", "Samples a second over hosts", html);
}

std::string StragglerSection(const Comparison& comparison) {
  // Groups by panel and by the slow host.
  std::vector<std::pair<std::string, std::vector<const Cell*>>> groups;
  for (const Cell& cell : comparison.cells) {
    if (!cell.straggler.has_value()) continue;
    const std::string title =
        absl::StrCat(PanelTitle(comparison, cell), ", ", HostsText(cell.hosts),
                     ", ", SlowHost(cell));
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& g) { return g.first == title; });
    if (group == groups.end()) {
      group = groups.insert(groups.end(), {title, {}});
    }
    group->second.push_back(&cell);
  }
  std::string html = HtmlParagraph(
      "One host computes slower than the others. The bar is samples/s with the "
      "slow host, and the mark is the same cell without one. Beside the bar is "
      "the first, and what share of the second it is.");
  int number = 0;
  for (auto& [title, cells] : groups) {
    std::stable_sort(cells.begin(), cells.end(), CellBefore);
    BarChart chart;
    chart.axis = {"samples/s of all workers"};
    chart.mark_means = "without the slow host";
    chart.has_legend = false;
    chart.keys = StylesOnly();
    const auto without = [&](const Cell& cell) -> std::optional<FigureSpread> {
      const Cell* twin = WithoutStraggler(comparison, cell);
      if (twin == nullptr || !WhyOut(*twin).empty()) return std::nullopt;
      return SamplesPerSecond(*twin);
    };
    const auto ratio = [&](const Cell& cell) -> std::string {
      const auto slow = SamplesPerSecond(cell), whole = without(cell);
      if (!slow || !whole || !(whole->median > 0)) return "–";
      return absl::StrFormat("%.2f", slow->median / whole->median);
    };
    chart.groups =
        BarsByHosts(cells, [&](const Cell& cell) -> std::optional<ChartBar> {
          const std::optional<FigureSpread> rate = SamplesPerSecond(cell);
          if (!rate.has_value()) return std::nullopt;
          ChartBar bar;
          bar.parts = {{ModeStyle(cell), rate->median}};
          if (rate->count > 1) {
            bar.low = rate->least;
            bar.high = rate->most;
          }
          if (without(cell)) bar.mark = without(cell)->median;
          bar.text = FigureText(rate->median);
          if (bar.mark.has_value()) {
            absl::StrAppend(&bar.text, ", ", ratio(cell), " of ",
                            FigureText(*bar.mark));
          }
          return bar;
        });
    if (chart.groups.empty()) continue;
    SetFrame(
        absl::StrCat("straggler", ++number),
        absl::StrCat("Samples/s with a slow host: ", title),
        absl::StrCat("Bars of samples per second with a slow host, one for "
                     "each mode: ",
                     title),
        &chart);
    absl::StrAppend(
        &html, "<figure>\n", DrawBarChart(chart),
        CellTable(
            comparison, "straggler", title, cells,
            {{"samples_per_second", "samples/s with the slow host",
              [](const Cell& c) { return SpreadText(SamplesPerSecond(c)); }},
             {"without", "without",
              [&](const Cell& c) { return SpreadText(without(c)); }},
             {"ratio", "with ÷ without", ratio}}),
        "</figure>\n");
  }
  if (number == 0) {
    html = LeftOut(groups.empty()
                       ? "no cell had a slow host (--straggler=HOST:SHARE)"
                       : "no run with a slow host ended well");
  }
  return ReportSection("straggler", "With a slow host", html);
}

}  // namespace shoal
