#ifndef SHOAL_REPORT_CHART_LEGEND_H_
#define SHOAL_REPORT_CHART_LEGEND_H_

#include <string>
#include <vector>

#include "report/svg_canvas.h"
#include "report/svg_chart.h"

namespace shoal {

// Internal to the charts of this folder: the title and the legend above them.

enum class LegendSign : uint8_t { kLine = 0, kArea = 1, kMark = 2, kPoint = 3 };

struct LegendEntry {
  LegendSign sign = LegendSign::kLine;
  std::string name;
  int style = 0;
  ChartHatch hatch = ChartHatch::kNone;
  ChartLook look = ChartLook::kFull;
};

// The height in pixels of the title of a frame and of these entries in rows.
double HeadHeight(const ChartFrame& frame,
                  const std::vector<LegendEntry>& entries);

// Draws both from the upper edge of the canvas.
void DrawHead(const ChartFrame& frame, const std::vector<LegendEntry>& entries,
              SvgCanvas* canvas);

// The left edge of charts' texts, in pixels.
inline constexpr double kChartMargin = 12;

}  // namespace shoal

#endif  // SHOAL_REPORT_CHART_LEGEND_H_
