#ifndef SHOAL_REPORT_SVG_CHART_H_
#define SHOAL_REPORT_SVG_CHART_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/chart_axis.h"
#include "report/svg_canvas.h"

namespace shoal {

// Charts as SVG text, without scripts, for a page or for a file of its own.
// They can be read in grey: each style has a marker and dashes, or a hatch,
// beside its colour. All texts are escaped. Values that are not finite, or have
// no place on a logarithmic axis, are left out. The same chart gives the same
// text.
//
//   LineChart chart;
//   chart.x = {"hosts", AxisScale::kLog};
//   chart.y = {"samples/s"};
//   chart.series = {{"async", 0, {{1, 21e3}, {2, 40e3}}}};
//   std::string svg = DrawLineChart(chart);

// What all charts have.
struct ChartFrame {
  // Id of the picture. Charts of one page need different ids.
  std::string id = "chart";
  std::string title;   // above the chart; may be empty
  std::string about;   // the picture in words, for those who do not see it
  double width = 720;  // pixels
  // The legend's words for marks with the looks kHollow and kGrey. The legend
  // has them if the chart has such a mark.
  std::string hollow_means = "hollow";
  std::string grey_means = "left out";
};

// So many styles differ, from 0 on.
inline constexpr int kChartStyles = 8;

// An entry of a legend.
struct ChartKey {
  std::string name;
  int style = 0;  // ChartColour
  ChartHatch hatch = ChartHatch::kNone;
};

struct LinePoint {
  double x = 0;
  double y = 0;
  std::optional<double> low = std::nullopt;  // ends of the error bar
  std::optional<double> high = std::nullopt;
  std::string label = "";  // written beside the point; empty: none
  ChartLook look = ChartLook::kFull;
  std::string tip = "";  // shown when the mouse rests on the point
};

struct LineSeries {
  std::string name;  // in the legend; empty: not in the legend
  int style = 0;
  std::vector<LinePoint> points;  // by ascending x
  // With more points than this, only so many of them have a marker.
  int max_markers = 24;
  bool faint = false;  // a thin pale line without markers
};

// A line across the chart at a value of y.
struct ChartLevel {
  double y = 0;
  std::string label;
};

// Lines through points, with error bars and labels.
struct LineChart : ChartFrame {
  ChartAxis x;
  ChartAxis y;
  std::vector<LineSeries> series;  // in the order of the legend
  std::vector<ChartLevel> levels;
  double height = 380;  // pixels
  // Pixels between the points of one style and the next at the same x, so that
  // equal values are seen.
  double dodge = 0;
};
std::string DrawLineChart(const LineChart& chart);

struct BarPart {
  int key = 0;            // index into BarChart::keys
  double value = 0;       // at least 0
  std::string text = "";  // written into the part if there is room
};

struct ChartBar {
  std::string label;                         // left of the bar
  std::vector<BarPart> parts;                // one behind the other
  std::optional<double> low = std::nullopt;  // ends of the error bar
  std::optional<double> high = std::nullopt;
  std::optional<double> mark = std::nullopt;  // a mark across the bar
  std::string text = "";                      // right of the bar
  ChartLook look = ChartLook::kFull;
  std::string tip = "";
};

struct BarGroup {
  std::string title;  // empty: none
  std::vector<ChartBar> bars;
};

// Horizontal bars in groups; each bar is one part or several stacked ones. The
// height follows from the number of bars.
struct BarChart : ChartFrame {
  ChartAxis axis;
  std::vector<ChartKey> keys;
  // False: the bars' own labels say everything.
  bool has_legend = true;
  std::string mark_means;  // the legend's words for marks
  std::vector<BarGroup> groups;
};
std::string DrawBarChart(const BarChart& chart);

struct MapCell {
  int key = -1;           // index into MapChart::keys; -1: an empty cell
  std::string text = "";  // lines separated by '\n', at most two
  // kHollow: pale and with a dashed edge, for what is less certain. kGrey: a
  // grey cell.
  ChartLook look = ChartLook::kFull;
  // From 0 (pale) to 1 (the key's colour). It says how clear a result is.
  double strength = 1;
  std::string tip = "";
};

// A map of coloured cells, as in hosts × bandwidth. Thick lines part cells of
// different keys. Legend: the keys that the map has, in their order.
struct MapChart : ChartFrame {
  std::string x_title;
  std::string y_title;
  std::vector<std::string> columns;  // from the left
  std::vector<std::string> rows;     // from the bottom
  // cells[row][column], as many as rows and columns. Missing cells are empty.
  std::vector<std::vector<MapCell>> cells;
  std::vector<ChartKey> keys;
};
std::string DrawMapChart(const MapChart& chart);

}  // namespace shoal

#endif  // SHOAL_REPORT_SVG_CHART_H_
