#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "report/chart_axis.h"
#include "report/chart_legend.h"
#include "report/svg_canvas.h"
#include "report/svg_chart.h"

namespace shoal {
namespace {

constexpr double kBarRow = 20;      // a bar with its gap
constexpr double kBar = 14;         // a bar
constexpr double kGroupTitle = 24;  // above a group's bars
constexpr double kGroupGap = 8;
constexpr const char* kGreyText = "#6b7278";

bool HasArea(const BarPart& part, const AxisLayout& axis) {
  return axis.Has(part.value) && part.value > 0;
}

double Sum(const ChartBar& bar, const AxisLayout& axis) {
  double sum = 0;
  for (const BarPart& part : bar.parts) {
    if (HasArea(part, axis)) sum += part.value;
  }
  return sum;
}

std::vector<LegendEntry> Legend(const BarChart& chart) {
  std::vector<LegendEntry> entries;
  if (chart.has_legend) {
    for (const ChartKey& key : chart.keys) {
      entries.push_back({LegendSign::kArea, key.name, key.style, key.hatch});
    }
  }
  bool mark = false, hollow = false, grey = false;
  for (const BarGroup& group : chart.groups) {
    for (const ChartBar& bar : group.bars) {
      mark |= bar.mark.has_value();
      hollow |= bar.look == ChartLook::kHollow;
      grey |= bar.look == ChartLook::kGrey;
    }
  }
  if (mark) entries.push_back({LegendSign::kMark, chart.mark_means});
  if (hollow) {
    entries.push_back({LegendSign::kArea, chart.hollow_means, 6,
                       ChartHatch::kNone, ChartLook::kHollow});
  }
  if (grey) {
    entries.push_back({LegendSign::kArea, chart.grey_means, 0,
                       ChartHatch::kNone, ChartLook::kGrey});
  }
  return entries;
}

// The plot's area in pixels and its axis.
struct BarPlot {
  double left = 0, right = 0, top = 0, bottom = 0;
  AxisLayout axis;

  double X(double value) const {
    return left + std::clamp(axis.Place(value), 0.0, 1.0) * (right - left);
  }
};

double Bottom(const BarChart& chart, double top) {
  for (const BarGroup& group : chart.groups) {
    top += (group.title.empty() ? kGroupGap : kGroupTitle) +
           kBarRow * group.bars.size();
  }
  return top + kGroupGap;
}

// Pixels to the right of which a bar's text begins.
double TextStart(const ChartBar& bar, const BarPlot& plot) {
  const double sum = Sum(bar, plot.axis);
  double end = plot.axis.Has(sum) ? plot.X(sum) : plot.left;
  for (const auto& value : {bar.high, bar.mark}) {
    if (value.has_value() && plot.axis.Has(*value)) {
      end = std::max(end, plot.X(*value));
    }
  }
  return end + 8;
}

BarPlot LayOut(const BarChart& chart, double head) {
  BarPlot plot;
  plot.axis.scale = chart.axis.scale;
  std::vector<double> values;
  double label_width = 0;
  for (const BarGroup& group : chart.groups) {
    for (const ChartBar& bar : group.bars) {
      label_width = std::max(label_width, TextWidth(bar.label, kChartTextSize));
      values.push_back(Sum(bar, plot.axis));
      if (bar.high.has_value()) values.push_back(*bar.high);
      if (bar.mark.has_value()) values.push_back(*bar.mark);
    }
  }
  plot.top = head + 2;
  plot.bottom = Bottom(chart, plot.top);
  plot.left = kChartMargin + std::min(label_width, chart.width * .4) + 8;
  plot.right = chart.width - 20;
  // The longest bar fills the width: it needs no round number.
  ChartAxis axis = chart.axis;
  if (axis.scale == AxisScale::kLinear && axis.ticks.empty() &&
      !axis.most.has_value()) {
    for (const double value : values) {
      if (plot.axis.Has(value) && value > 0) {
        axis.most = std::max(axis.most.value_or(0), value);
      }
    }
  }
  plot.axis =
      LayOutAxis(axis, values,
                 std::max(2, static_cast<int>((plot.right - plot.left) / 80)));
  // Room for the texts at the ends of the bars. A narrower plot ends a bar
  // further left, so a few rounds are needed.
  for (int round = 0; round < 8; ++round) {
    double overhang = 0;
    for (const BarGroup& group : chart.groups) {
      for (const ChartBar& bar : group.bars) {
        if (bar.text.empty()) continue;
        overhang = std::max(overhang, TextStart(bar, plot) +
                                          TextWidth(bar.text, kChartTextSize) -
                                          (chart.width - 6));
      }
    }
    if (overhang < 1) break;
    plot.right = std::max(plot.right - overhang,
                          plot.left + (chart.width - plot.left) * .25);
  }
  return plot;
}

void DrawAxis(const BarChart& chart, const BarPlot& plot, SvgCanvas* canvas) {
  double free = -1e9;
  for (const AxisTick& tick : plot.axis.ticks) {
    const double x = plot.X(tick.value);
    canvas->Line(x, plot.top, x, plot.bottom, "#e3e6e9");
    const double half = TextWidth(tick.text, kChartTextSize) / 2;
    if (x - half < free) continue;
    free = x + half + 6;
    canvas->Text(x, plot.bottom + 16, tick.text,
                 {.size = kChartTextSize,
                  .colour = kChartSoft,
                  .anchor = TextAnchor::kMiddle});
  }
  canvas->Line(plot.left, plot.top, plot.left, plot.bottom, kChartSoft);
  canvas->Text((plot.left + plot.right) / 2, plot.bottom + 34, chart.axis.title,
               {.size = kChartTextSize,
                .colour = kChartSoft,
                .anchor = TextAnchor::kMiddle});
}

void DrawBar(const BarChart& chart, const ChartBar& bar, const BarPlot& plot,
             double y, SvgCanvas* canvas) {
  const bool grey = bar.look == ChartLook::kGrey;
  const char* text_colour = grey ? kGreyText : "#1f2328";
  const double top = y + (kBarRow - kBar) / 2;
  const double middle = y + kBarRow / 2;
  canvas->Text(plot.left - 8, middle + 4, bar.label,
               {.size = kChartTextSize,
                .colour = text_colour,
                .anchor = TextAnchor::kEnd});
  double sum = 0;
  double from = plot.left;
  for (const BarPart& part : bar.parts) {
    if (!HasArea(part, plot.axis)) continue;
    sum += part.value;
    const double to = plot.X(sum);
    const size_t at = static_cast<size_t>(part.key);
    const ChartKey key = at < chart.keys.size() ? chart.keys[at] : ChartKey{};
    canvas->Area(from, top, to - from, kBar, key.style, key.hatch, bar.look,
                 bar.tip);
    if (!part.text.empty() && TextWidth(part.text, 10) + 4 < to - from) {
      // On white, since no text is legible over a hatch.
      const double text_width = TextWidth(part.text, 10) + 1;
      canvas->Box((from + to - text_width) / 2, middle - 5.5, text_width, 11,
                  "#ffffff", "none");
      canvas->Text((from + to) / 2, middle + 3.5, part.text,
                   {.size = 10, .anchor = TextAnchor::kMiddle});
    }
    from = to;
  }
  if (bar.low.has_value() && bar.high.has_value() && plot.axis.Has(*bar.low) &&
      plot.axis.Has(*bar.high)) {
    canvas->Whisker(middle, plot.X(*bar.low), plot.X(*bar.high), false,
                    "#1f2328");
  }
  if (bar.mark.has_value() && plot.axis.Has(*bar.mark)) {
    const double x = plot.X(*bar.mark);
    canvas->Line(x, top - 2, x, top + kBar + 2, "#ffffff", 4.5);
    canvas->Line(x, top - 2, x, top + kBar + 2, "#1f2328", 2.5);
  }
  canvas->Text(TextStart(bar, plot), middle + 4, bar.text,
               {.size = kChartTextSize, .colour = text_colour});
}

}  // namespace

std::string DrawBarChart(const BarChart& chart) {
  const std::vector<LegendEntry> legend = Legend(chart);
  const BarPlot plot = LayOut(chart, HeadHeight(chart, legend));
  SvgCanvas canvas(chart.id, chart.width,
                   plot.bottom + (chart.axis.title.empty() ? 24 : 44),
                   chart.about);
  DrawHead(chart, legend, &canvas);
  DrawAxis(chart, plot, &canvas);
  double y = plot.top;
  for (const BarGroup& group : chart.groups) {
    if (group.title.empty()) {
      y += kGroupGap;
    } else {
      canvas.Text(kChartMargin, y + 17, group.title,
                  {.size = kChartTextSize, .bold = true, .halo = true});
      y += kGroupTitle;
    }
    for (const ChartBar& bar : group.bars) {
      DrawBar(chart, bar, plot, y, &canvas);
      y += kBarRow;
    }
  }
  return canvas.Finish();
}

}  // namespace shoal
