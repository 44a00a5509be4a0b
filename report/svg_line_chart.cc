#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "report/chart_axis.h"
#include "report/chart_legend.h"
#include "report/svg_canvas.h"
#include "report/svg_chart.h"

namespace shoal {
namespace {

constexpr double kLabelSize = 11;  // of labels at points
constexpr double kLabelRow = 13;   // the least distance of two labels
constexpr double kLabelGap = 12;   // from a point to its label
constexpr double kColumn = 40;     // points this close share a column
constexpr double kEdgeRoom = 6;    // from a label to the edge
constexpr const char* kGrid = "#e3e6e9";

// The plot's area in pixels and its axes.
struct LinePlot {
  double left = 0, right = 0, top = 0, bottom = 0;
  AxisLayout x, y;

  double X(double value) const {
    return left + x.Place(value) * (right - left);
  }
  double Y(double value) const {
    return bottom - y.Place(value) * (bottom - top);
  }
  bool Has(const LinePoint& point) const {
    return x.Has(point.x) && y.Has(point.y);
  }
};

struct Label {
  double x = 0;   // of the point
  double y = 0;   // of the point
  double at = 0;  // y of the label's middle
  int style = 0;
  bool grey = false;
  std::string text;
};

double Width(const Label& label) { return TextWidth(label.text, kLabelSize); }

// Labels that share a column, by the x of their points.
struct LabelColumn {
  double at = 0;  // the left edge of the labels, in pixels
  std::vector<Label> labels;
};

// Points of series `i` are so many pixels beside their place: those of each
// style have a place of their own.
double Shift(const LineChart& chart, size_t i) {
  std::vector<int> styles;
  for (const LineSeries& series : chart.series) {
    if (std::find(styles.begin(), styles.end(), series.style) == styles.end()) {
      styles.push_back(series.style);
    }
  }
  const auto own =
      std::find(styles.begin(), styles.end(), chart.series[i].style);
  const double middle = (static_cast<double>(styles.size()) - 1) / 2;
  return (static_cast<double>(own - styles.begin()) - middle) * chart.dodge;
}

std::vector<Label> LabelsOf(const LineChart& chart, const LinePlot& plot) {
  std::vector<Label> labels;
  for (size_t i = 0; i < chart.series.size(); ++i) {
    const LineSeries& series = chart.series[i];
    if (series.faint) continue;
    for (const LinePoint& point : series.points) {
      if (point.label.empty() || !plot.Has(point)) continue;
      labels.push_back({plot.X(point.x) + Shift(chart, i), plot.Y(point.y), 0,
                        series.style, point.look == ChartLook::kGrey,
                        point.label});
    }
  }
  return labels;
}

// Labels of points that are close to each other share a column to their right.
std::vector<LabelColumn> Columns(std::vector<Label> labels) {
  std::stable_sort(labels.begin(), labels.end(),
                   [](const Label& a, const Label& b) { return a.x < b.x; });
  std::vector<LabelColumn> columns;
  for (const Label& label : labels) {
    if (columns.empty() || label.x - columns.back().labels.back().x > kColumn) {
      columns.emplace_back();
    }
    columns.back().at = label.x + kLabelGap;
    columns.back().labels.push_back(label);
  }
  return columns;
}

// Moves labels of one column apart, each as little as is needed, within
// `top` … `bottom` where there is room.
void SpreadLabels(double top, double bottom, std::vector<Label>* labels) {
  std::stable_sort(labels->begin(), labels->end(),
                   [](const Label& a, const Label& b) { return a.y < b.y; });
  // Labels that touch make a block around the mean of what they want.
  struct Block {
    double middle = 0;
    size_t count = 0;
    double Half() const { return count * kLabelRow / 2; }
  };
  std::vector<Block> blocks;
  for (const Label& label : *labels) {
    blocks.push_back({label.y, 1});
    while (true) {
      Block& last = blocks.back();
      last.middle = std::min(last.middle, bottom - last.Half());
      last.middle = std::max(last.middle, top + last.Half());
      if (blocks.size() < 2) break;
      Block& before = blocks[blocks.size() - 2];
      if (before.middle + before.Half() <= last.middle - last.Half()) break;
      const size_t count = before.count + last.count;
      before.middle =
          (before.middle * before.count + last.middle * last.count) / count;
      before.count = count;
      blocks.pop_back();
    }
  }
  size_t next = 0;
  for (const Block& block : blocks) {
    for (size_t i = 0; i < block.count; ++i) {
      (*labels)[next++].at = block.middle - block.Half() + (i + .5) * kLabelRow;
    }
  }
}

std::vector<LegendEntry> Legend(const LineChart& chart) {
  std::vector<LegendEntry> entries;
  bool hollow = false, grey = false;
  for (const LineSeries& series : chart.series) {
    for (const LinePoint& point : series.points) {
      hollow |= point.look == ChartLook::kHollow;
      grey |= point.look == ChartLook::kGrey;
    }
    if (series.name.empty()) continue;
    entries.push_back({LegendSign::kLine, series.name, series.style});
  }
  if (hollow) {
    entries.push_back({LegendSign::kPoint, chart.hollow_means, 6,
                       ChartHatch::kNone, ChartLook::kHollow});
  }
  if (grey) {
    entries.push_back({LegendSign::kPoint, chart.grey_means, 0,
                       ChartHatch::kNone, ChartLook::kGrey});
  }
  return entries;
}

LinePlot LayOut(const LineChart& chart, double head) {
  std::vector<double> xs, ys;
  for (const LineSeries& series : chart.series) {
    for (const LinePoint& point : series.points) {
      xs.push_back(point.x);
      ys.insert(ys.end(), {point.y, point.low.value_or(point.y),
                           point.high.value_or(point.y)});
    }
  }
  for (const ChartLevel& level : chart.levels) ys.push_back(level.y);
  LinePlot plot;
  plot.top = head + (chart.y.title.empty() ? 10 : 26);
  plot.bottom = chart.height - (chart.x.title.empty() ? 26 : 44);
  plot.y =
      LayOutAxis(chart.y, ys,
                 std::max(2, static_cast<int>((plot.bottom - plot.top) / 42)));
  double tick_width = 0;
  for (const AxisTick& tick : plot.y.ticks) {
    tick_width = std::max(tick_width, TextWidth(tick.text, kChartTextSize));
  }
  plot.left = kChartMargin + tick_width + 8;
  plot.right = chart.width - 24;
  // The curves fill the width: their last points need no round number.
  ChartAxis x = chart.x;
  if (x.scale == AxisScale::kLinear && x.ticks.empty() && !x.most.has_value()) {
    const AxisLayout ends = LayOutAxis(x, xs, 2);
    double most = ends.least;
    for (const double value : xs) {
      if (ends.Has(value)) most = std::max(most, value);
    }
    if (most > ends.least) x.most = most;
  }
  plot.x = LayOutAxis(
      x, xs, std::max(2, static_cast<int>((plot.right - plot.left) / 72)));
  // Room at the right for the labels of the last points. A narrower plot moves
  // the points, so a few rounds are needed.
  for (int round = 0; round < 8; ++round) {
    double overhang = 0;
    for (const LabelColumn& column : Columns(LabelsOf(chart, plot))) {
      for (const Label& label : column.labels) {
        overhang = std::max(overhang,
                            column.at + Width(label) + kEdgeRoom - chart.width);
      }
    }
    if (overhang < 1) break;
    plot.right = std::max(plot.right - overhang,
                          plot.left + (chart.width - plot.left) * .4);
  }
  // A logarithmic axis and one with ticks of its own begin with a point: a
  // little room keeps its marker off the edge.
  if (chart.x.scale == AxisScale::kLog || !chart.x.ticks.empty()) {
    plot.left += 14;
    plot.right -= 6;
  }
  return plot;
}

void DrawAxes(const LineChart& chart, const LinePlot& plot, SvgCanvas* canvas) {
  const double left = chart.x.scale == AxisScale::kLog || !chart.x.ticks.empty()
                          ? plot.left - 14
                          : plot.left;
  const double right = plot.right + 8;
  for (const AxisTick& tick : plot.y.ticks) {
    const double y = plot.Y(tick.value);
    canvas->Line(left, y, right, y, kGrid);
    canvas->Text(left - 6, y + 4, tick.text,
                 {.size = kChartTextSize,
                  .colour = kChartSoft,
                  .anchor = TextAnchor::kEnd});
  }
  canvas->Text(kChartMargin, plot.top - 12, chart.y.title,
               {.size = kChartTextSize, .colour = kChartSoft});
  canvas->Line(left, plot.bottom, right, plot.bottom, "#59636e");
  double free = -1e9;  // x from which the next tick's text may begin
  for (const AxisTick& tick : plot.x.ticks) {
    const double x = plot.X(tick.value);
    canvas->Line(x, plot.bottom, x, plot.bottom + 4, "#59636e");
    const double half = TextWidth(tick.text, kChartTextSize) / 2;
    if (x - half < free) continue;
    free = x + half + 4;
    canvas->Text(x, plot.bottom + 18, tick.text,
                 {.size = kChartTextSize,
                  .colour = kChartSoft,
                  .anchor = TextAnchor::kMiddle});
  }
  canvas->Text((left + right) / 2, chart.height - 8, chart.x.title,
               {.size = kChartTextSize,
                .colour = kChartSoft,
                .anchor = TextAnchor::kMiddle});
}

void DrawLevels(const LineChart& chart, const LinePlot& plot,
                SvgCanvas* canvas) {
  for (const ChartLevel& level : chart.levels) {
    if (!plot.y.Has(level.y)) continue;
    const double y = plot.Y(level.y);
    canvas->Line(plot.left, y, plot.right, y, "#1f2328", 1.2, "6 3");
    canvas->Text(plot.left + 6, y - 5, level.label,
                 {.size = kLabelSize, .halo = true});
  }
}

// The path through the points of a series, which are `shift` pixels beside
// their place.
std::string Path(const LineSeries& series, const LinePlot& plot, double shift) {
  std::string path;
  for (const LinePoint& point : series.points) {
    if (!plot.Has(point)) continue;
    SvgCanvas::AddPoint(plot.X(point.x) + shift, plot.Y(point.y), &path);
  }
  return path;
}

void DrawMarkers(const LineSeries& series, const LinePlot& plot, double shift,
                 SvgCanvas* canvas) {
  const size_t count = series.points.size();
  const size_t most = std::max(series.max_markers, 1);
  for (size_t i = 0; i < count; ++i) {
    const LinePoint& point = series.points[i];
    if (!plot.Has(point)) continue;
    const double x = plot.X(point.x) + shift;
    if (point.low.has_value() && point.high.has_value() &&
        plot.y.Has(*point.low) && plot.y.Has(*point.high)) {
      canvas->Whisker(x, plot.Y(*point.low), plot.Y(*point.high), true,
                      point.look == ChartLook::kGrey
                          ? "#9aa1a8"
                          : ChartColour(series.style));
    }
    // Evenly spread, the last one always.
    const bool marked =
        count <= most || i * most / count != (i + 1) * most / count;
    if (marked) {
      canvas->Marker(x, plot.Y(point.y), series.style, point.look, point.tip);
    }
  }
}

// Draws labels, with lines to the points from which a label had to move away.
void DrawLabels(const LineChart& chart, const LinePlot& plot,
                SvgCanvas* canvas) {
  for (LabelColumn& column : Columns(LabelsOf(chart, plot))) {
    SpreadLabels(plot.top - 6, plot.bottom, &column.labels);
    for (const Label& label : column.labels) {
      if (std::abs(label.at - label.y) > 3 ||
          column.at - label.x > 2 * kLabelGap) {
        canvas->Line(label.x + 5, label.y, column.at - 2, label.at, "#9aa1a8",
                     .8);
      }
    }
    for (const Label& label : column.labels) {
      canvas->Text(
          column.at, label.at + 4, label.text,
          {.size = kLabelSize,
           .colour = label.grey ? "#6b7278" : ChartTextColour(label.style),
           .halo = true});
    }
  }
}

}  // namespace

std::string DrawLineChart(const LineChart& chart) {
  const std::vector<LegendEntry> legend = Legend(chart);
  const LinePlot plot = LayOut(chart, HeadHeight(chart, legend));
  SvgCanvas canvas(chart.id, chart.width, chart.height, chart.about);
  DrawHead(chart, legend, &canvas);
  DrawAxes(chart, plot, &canvas);
  DrawLevels(chart, plot, &canvas);

  for (size_t i = 0; i < chart.series.size(); ++i) {
    const LineSeries& series = chart.series[i];
    canvas.Curve(Path(series, plot, Shift(chart, i)), series.style,
                 series.faint ? 1 : 2, series.faint ? .4 : 1, ChartLook::kFull);
  }
  for (size_t i = 0; i < chart.series.size(); ++i) {
    if (chart.series[i].faint) continue;
    DrawMarkers(chart.series[i], plot, Shift(chart, i), &canvas);
  }
  DrawLabels(chart, plot, &canvas);
  return canvas.Finish();
}

}  // namespace shoal
