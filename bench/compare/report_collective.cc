#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "bench/compare/cell_figures.h"
#include "bench/compare/html_table.h"
#include "bench/compare/report_panels.h"
#include "bench/compare/report_sections.h"
#include "report/svg_chart.h"

namespace shoal {
namespace {

// Bytes a second that each rank's link carries: every rank sends
// 2 (n − 1) / n times the bytes.
double BusRate(const CollectivePoint& point) {
  if (!(point.seconds > 0) || point.ranks < 1) return 0;
  return 2.0 * (point.ranks - 1) / point.ranks *
         static_cast<double>(point.bytes) / point.seconds;
}

std::string BytesText(double bytes) {
  if (bytes >= 1 << 20)
    return absl::StrCat(FigureText(bytes / (1 << 20)), " MiB");
  if (bytes >= 1 << 10)
    return absl::StrCat(FigureText(bytes / (1 << 10)), " KiB");
  return absl::StrCat(FigureText(bytes), " B");
}

}  // namespace

std::string CollectiveSection(const Comparison& comparison) {
  const char* heading = "AllReduce over the size of a bucket";
  if (comparison.collective.empty()) {
    return ReportSection("collective", heading,
                         LeftOut("no AllReduce was measured by itself"));
  }
  LineChart chart;
  chart.x = {"bytes of the bucket", AxisScale::kLog};
  chart.y = {"GB/s on each link: 2 (n − 1) / n × bytes ÷ seconds",
             AxisScale::kLog};
  std::map<int, std::map<uint64_t, CollectivePoint>> ranks;
  for (const CollectivePoint& point : comparison.collective) {
    ranks[point.ranks][point.bytes] = point;
  }
  HtmlTable table("collective", "AllReduce by ranks and bytes",
                  {{"ranks", "ranks"},
                   {"bytes", "bytes"},
                   {"seconds", "time of one, µs"},
                   {"bus_rate", "GB/s on each link"}});
  std::map<double, std::string> ticks;
  for (const auto& [n, points] : ranks) {
    LineSeries series;
    series.name = absl::StrCat(n, " ranks");
    series.style = static_cast<int>(chart.series.size());
    for (const auto& [bytes, point] : points) {
      series.points.push_back(
          {static_cast<double>(bytes), BusRate(point) / 1e9});
      ticks[static_cast<double>(bytes)] = BytesText(static_cast<double>(bytes));
      table.AddRow(
          absl::StrCat(n, "_", bytes), false,
          {absl::StrCat(n), FigureText(static_cast<double>(bytes)),
           FigureText(point.seconds * 1e6), FigureText(BusRate(point) / 1e9)});
    }
    chart.series.push_back(std::move(series));
  }
  for (const auto& [bytes, text] : ticks)
    chart.x.ticks.push_back({bytes, text});
  SetFrame("collective1", "AllReduce of a ring over the size of its bucket",
           "Lines of the rate of an AllReduce over its bytes, one for each "
           "number of ranks. The table below has the figures.",
           &chart);
  return ReportSection(
      "collective", heading,
      absl::StrCat(HtmlParagraph(
                       "The ranks of a ring sum a bucket of the dense gradient "
                       "in one AllReduce (--bucket_bytes). In small buckets "
                       "the time of the messages counts, in large ones the "
                       "link."),
                   "<figure>\n", DrawLineChart(chart), table.Html(),
                   "</figure>\n"));
}

}  // namespace shoal
