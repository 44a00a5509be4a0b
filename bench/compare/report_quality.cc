#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/compare/cell_figures.h"
#include "bench/compare/cell_mode.h"
#include "bench/compare/html_table.h"
#include "bench/compare/report_panels.h"
#include "bench/compare/report_sections.h"
#include "report/number_text.h"
#include "report/svg_chart.h"

namespace shoal {
namespace {

// The AUC at the end of a run's curve; nullopt: the curve has none.
std::optional<double> LastAuc(const CellRun& run) {
  for (auto point = run.curve.rbegin(); point != run.curve.rend(); ++point) {
    if (point->auc.has_value()) return point->auc;
  }
  return std::nullopt;
}

// Runs that have a curve, the one with the median AUC at its end first.
std::vector<const CellRun*> RunsWithCurve(const Cell& cell) {
  std::vector<const CellRun*> runs;
  for (const CellRun& run : cell.runs) {
    if (run.ok && LastAuc(run).has_value()) runs.push_back(&run);
  }
  if (runs.empty()) return runs;
  std::stable_sort(runs.begin(), runs.end(),
                   [](const CellRun* a, const CellRun* b) {
                     return *LastAuc(*a) < *LastAuc(*b);
                   });
  std::swap(runs[0], runs[runs.size() / 2]);
  return runs;
}

// The least AUC of all curves after their first fifth of samples. The axis
// begins below it: the climb from .5 would leave no room for the differences.
double AxisLeast(const std::vector<const Cell*>& cells) {
  double least = std::numeric_limits<double>::infinity();
  for (const Cell* cell : cells) {
    for (const CellRun* run : RunsWithCurve(*cell)) {
      const double from = static_cast<double>(run->curve.back().samples) / 5;
      for (const RunCurvePoint& point : run->curve) {
        if (point.auc && static_cast<double>(point.samples) >= from) {
          least = std::min(least, *point.auc);
        }
      }
    }
  }
  return std::floor(least * 100 + 1e-9) / 100;
}

LineChart AucChart(const Comparison& comparison,
                   const std::vector<const Cell*>& cells, bool over_time) {
  LineChart chart;
  chart.width = 470;
  chart.height = 330;
  chart.x = {over_time ? "seconds since the first data" : "samples trained"};
  chart.y = {"progressive AUC"};
  chart.y.from_zero = false;
  const double least = AxisLeast(cells);
  double lowest = least;
  if (comparison.target_auc.has_value()) {
    chart.levels = {
        {*comparison.target_auc,
         absl::StrCat("target ", SettingText(*comparison.target_auc))}};
    lowest = std::min(least, *comparison.target_auc);
  }
  chart.y.least = lowest;
  // Pale lines lie below the others.
  for (const bool faint : {true, false}) {
    for (const Cell* cell : cells) {
      const std::vector<const CellRun*> runs = RunsWithCurve(*cell);
      for (size_t i = 0; i < runs.size(); ++i) {
        if ((i > 0) != faint) continue;
        LineSeries series;
        series.name = faint ? "" : ModeName(*cell);
        series.style = ModeStyle(*cell);
        series.faint = faint;
        series.max_markers = 6;
        for (const RunCurvePoint& point : runs[i]->curve) {
          if (!point.auc.has_value() || *point.auc < lowest) continue;
          LinePoint at = {
              over_time ? point.seconds : static_cast<double>(point.samples),
              *point.auc};
          at.look = LookOf(*cell);
          series.points.push_back(at);
        }
        chart.series.push_back(std::move(series));
      }
    }
  }
  return chart;
}

std::string RunsThatReached(const Cell& cell) {
  int ok = 0, reached = 0;
  for (const CellRun& run : cell.runs) {
    ok += run.ok;
    reached += run.ok && run.seconds_to_target.has_value();
  }
  return absl::StrCat(reached, " of ", ok);
}

CellColumn LearningRate() {
  return {"learning_rate", "learning rate",
          [](const Cell& c) { return SettingText(c.learning_rate); }};
}

std::string NoCurve(const Comparison& comparison) {
  for (const Cell& cell : comparison.cells) {
    if (!cell.replayed()) {
      return "no computed cell reported AUC while it trained";
    }
  }
  return "all cells were replayed, and a replay has no AUC";
}

// Where the curves end, if that is within the first pass over the data; or "".
std::string EndOfCurves(const Comparison& comparison) {
  uint64_t samples = 0;
  for (const Cell& cell : comparison.cells) {
    for (const CellRun& run : cell.runs) {
      if (!run.curve.empty()) {
        samples = std::max(samples, run.curve.back().samples);
      }
    }
  }
  if (samples == 0 || samples >= comparison.data.rows) return "";
  return absl::StrCat(
      " All curves end within the first pass over the data, "
      "after at most ",
      FigureText(100 * static_cast<double>(samples) /
                 static_cast<double>(comparison.data.rows)),
      " % of it.");
}

// With the curves of the first pass over the data alone: later ones score rows
// that the model has trained on.
Comparison WithFirstPass(Comparison comparison) {
  const uint64_t rows = comparison.data.rows;
  if (rows == 0) return comparison;
  for (Cell& cell : comparison.cells) {
    for (CellRun& run : cell.runs) {
      std::erase_if(run.curve, [rows](const RunCurvePoint& point) {
        return point.samples > rows;
      });
    }
  }
  return comparison;
}

}  // namespace

std::string AucSection(const Comparison& whole) {
  const Comparison comparison = WithFirstPass(whole);
  std::string html = HtmlParagraph(absl::StrCat(
      "Progressive AUC: that of the newest examples, scored just before the "
      "model trains on them, in the first pass over the data. The bold line is "
      "the run whose AUC at the end is "
      "the median of the repeats; the pale lines are the other runs. AUC below "
      "the axis, at the beginning, is not drawn. Replayed cells have no AUC.",
      EndOfCurves(whole)));
  int number = 0;
  std::set<const Cell*> shown;
  for (const ReportPanel& panel : PanelsOf(comparison)) {
    for (const int hosts : HostsOf(panel.cells)) {
      std::vector<const Cell*> cells;
      for (const Cell* cell : panel.cells) {
        // One host uses no network: its curves stand once.
        if (cell->hosts == hosts && !RunsWithCurve(*cell).empty() &&
            shown.insert(cell).second) {
          cells.push_back(cell);
        }
      }
      if (cells.empty()) continue;
      ++number;
      const std::string title = absl::StrCat(
          PanelTitle(comparison, *cells.front()), ", ", HostsText(hosts));
      std::string pictures;
      for (const bool over_time : {false, true}) {
        LineChart chart = AucChart(comparison, cells, over_time);
        const double width = chart.width;
        SetFrame(absl::StrCat(over_time ? "auct" : "aucs", number),
                 absl::StrCat("AUC over ", over_time ? "time" : "samples", ": ",
                              "model ", panel.model, ", ", HostsText(hosts),
                              hosts == 1 ? "" : ", ",
                              hosts == 1 ? "" : panel.network),
                 absl::StrCat("Lines of progressive AUC over ",
                              over_time ? "time" : "samples",
                              ", one for each mode: ", title),
                 &chart);
        chart.width = width;
        pictures += DrawLineChart(chart);
      }
      absl::StrAppend(
          &html, "<figure>\n<div class=\"pair\">", pictures, "</div>\n",
          CellTable(comparison, "auc", title, cells,
                    {LearningRate(),
                     {"auc", "AUC of the final model",
                      [](const Cell& c) {
                        return SpreadText(SpreadOf(
                            c, [](const CellRun& r) { return r.auc; }));
                      }},
                     {"logloss", "its logloss",
                      [](const Cell& c) {
                        return SpreadText(SpreadOf(
                            c, [](const CellRun& r) { return r.logloss; }));
                      }},
                     {"curve_auc", "progressive AUC at the curve's end",
                      [](const Cell& c) {
                        return SpreadText(SpreadOf(c, LastAuc));
                      }}}),
          "</figure>\n");
    }
  }
  if (number == 0) html = LeftOut(NoCurve(comparison));
  return ReportSection("auc", "AUC over samples and over time", html);
}

std::string TargetSection(const Comparison& comparison) {
  const char* heading = "Time and cost to the target";
  if (!comparison.target_auc.has_value()) {
    return ReportSection("target", heading,
                         LeftOut("no target was given (--target_auc)"));
  }
  const std::optional<double> price = comparison.price_per_host_hour;
  std::string html = HtmlParagraph(absl::StrCat(
      "Seconds until the AUC reached ", SettingText(*comparison.target_auc),
      ": median of the runs that reached it, with a bar from the least to the "
      "largest. ",
      price.has_value()
          ? absl::StrCat(
                "Cost = hosts × price × seconds ÷ 3,600; the price of a "
                "host for an hour is ",
                SettingText(*price), ".")
          : "There is no cost, since no price was given (--price)."));
  int number = 0;
  for (const ReportPanel& panel : PanelsOf(comparison)) {
    BarChart chart;
    chart.axis = {"seconds to the target"};
    chart.has_legend = false;
    chart.keys = StylesOnly();
    bool reached = false;
    chart.groups = BarsByHosts(
        panel.cells, [&](const Cell& cell) -> std::optional<ChartBar> {
          if (cell.replayed()) return std::nullopt;
          const std::optional<FigureSpread> seconds = SecondsToTarget(cell);
          ChartBar bar;
          if (!seconds.has_value()) {
            bar.text = "not reached";
            return bar;
          }
          reached = true;
          bar.parts = {{ModeStyle(cell), seconds->median}};
          if (seconds->count > 1) {
            bar.low = seconds->least;
            bar.high = seconds->most;
          }
          bar.text = absl::StrCat(FigureText(seconds->median), " s");
          if (price.has_value()) {
            absl::StrAppend(
                &bar.text, ", cost ",
                FigureText(
                    CostOf(cell, *price, &CellRun::seconds_to_target)->median));
          }
          if (static_cast<size_t>(seconds->count) < cell.runs.size()) {
            absl::StrAppend(&bar.text, ", ", RunsThatReached(cell), " runs");
          }
          return bar;
        });
    if (!reached) continue;
    const std::string title = PanelTitle(comparison, panel);
    SetFrame(
        absl::StrCat("target", ++number),
        absl::StrCat("Time to the target: ", title),
        absl::StrCat("Bars of seconds to the target AUC, one for each mode "
                     "and number of hosts: ",
                     title),
        &chart);
    std::vector<const Cell*> computed;
    for (const Cell* cell : panel.cells) {
      if (!cell->replayed()) computed.push_back(cell);
    }
    std::vector<CellColumn> columns = {
        LearningRate(),
        {"seconds_to_target", "seconds to the target",
         [](const Cell& c) { return SpreadText(SecondsToTarget(c)); }},
        {"reached", "runs that reached it", RunsThatReached}};
    if (price.has_value()) {
      columns.push_back({"cost", "cost", [&](const Cell& c) {
                           return SpreadText(
                               CostOf(c, *price, &CellRun::seconds_to_target));
                         }});
    }
    absl::StrAppend(&html, "<figure>\n", DrawBarChart(chart),
                    CellTable(comparison, "target", title, computed, columns),
                    "</figure>\n");
  }
  if (number == 0) {
    html += LeftOut(absl::StrCat("no run reached an AUC of ",
                                 SettingText(*comparison.target_auc)));
  }
  return ReportSection("target", heading, html);
}

}  // namespace shoal
