#include "report/chart_legend.h"

#include <algorithm>

namespace shoal {
namespace {

constexpr double kTitleSize = 14;
constexpr double kLegendRow = 20;
constexpr double kEntryGap = 18;  // between entries

double SignWidth(const LegendEntry& entry) {
  switch (entry.sign) {
    case LegendSign::kLine:
      return 34;
    case LegendSign::kArea:
      return 22;
    case LegendSign::kMark:
    case LegendSign::kPoint:
      return 14;
  }
  return 0;
}

struct EntryPlace {
  double x = 0;
  int row = 0;
};

// Where the entries are, from left to right in rows.
std::vector<EntryPlace> Places(const ChartFrame& frame,
                               const std::vector<LegendEntry>& entries) {
  std::vector<EntryPlace> places;
  EntryPlace next = {kChartMargin, 0};
  for (const LegendEntry& entry : entries) {
    const double width =
        SignWidth(entry) + 6 + TextWidth(entry.name, kChartTextSize);
    if (next.x > kChartMargin && next.x + width > frame.width - kChartMargin) {
      next = {kChartMargin, next.row + 1};
    }
    places.push_back(next);
    next.x += width + kEntryGap;
  }
  return places;
}

double TitleHeight(const ChartFrame& frame) {
  return frame.title.empty() ? 4 : 28;
}

void DrawSign(const LegendEntry& entry, double x, double middle,
              SvgCanvas* canvas) {
  const double width = SignWidth(entry);
  switch (entry.sign) {
    case LegendSign::kLine: {
      std::string points;
      SvgCanvas::AddPoint(x, middle, &points);
      SvgCanvas::AddPoint(x + width, middle, &points);
      canvas->Curve(points, entry.style, 2, 1, entry.look);
      canvas->Marker(x + width / 2, middle, entry.style, entry.look);
      return;
    }
    case LegendSign::kArea:
      canvas->Area(x, middle - 6, width, 12, entry.style, entry.hatch,
                   entry.look);
      return;
    case LegendSign::kMark:
      canvas->Line(x + width / 2, middle - 7, x + width / 2, middle + 7,
                   "#1f2328", 2.5);
      return;
    case LegendSign::kPoint:
      canvas->Marker(x + width / 2, middle, entry.style, entry.look);
      return;
  }
}

}  // namespace

double HeadHeight(const ChartFrame& frame,
                  const std::vector<LegendEntry>& entries) {
  const std::vector<EntryPlace> places = Places(frame, entries);
  const int rows = places.empty() ? 0 : places.back().row + 1;
  return TitleHeight(frame) + rows * kLegendRow + (rows > 0 ? 6 : 0);
}

void DrawHead(const ChartFrame& frame, const std::vector<LegendEntry>& entries,
              SvgCanvas* canvas) {
  canvas->Text(kChartMargin, 20, frame.title,
               {.size = kTitleSize, .bold = true});
  const std::vector<EntryPlace> places = Places(frame, entries);
  for (size_t i = 0; i < entries.size(); ++i) {
    const double middle =
        TitleHeight(frame) + places[i].row * kLegendRow + kLegendRow / 2;
    DrawSign(entries[i], places[i].x, middle, canvas);
    canvas->Text(places[i].x + SignWidth(entries[i]) + 6, middle + 4,
                 entries[i].name, {.size = kChartTextSize});
  }
}

}  // namespace shoal
