#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/allreduce/bus_rate.h"
#include "bench/compare/cell_figures.h"
#include "bench/compare/html_table.h"
#include "bench/compare/report_panels.h"
#include "bench/compare/report_sections.h"
#include "report/svg_chart.h"

namespace shoal {
namespace {

// The points of one network and number of ranks, by bytes.
struct Ring {
  std::string network;
  int ranks = 0;
  std::map<uint64_t, double> seconds;

  std::string Name() const {
    return network == "none" ? absl::StrCat(ranks, " ranks")
                             : absl::StrCat(ranks, " ranks, ", network);
  }
};

// The rings in the order of the comparison.
std::vector<Ring> RingsOf(const Comparison& comparison) {
  std::vector<Ring> rings;
  for (const CollectivePoint& point : comparison.collective) {
    if (rings.empty() || rings.back().network != point.network ||
        rings.back().ranks != point.ranks) {
      rings.push_back({point.network, point.ranks, {}});
    }
    rings.back().seconds[point.bytes] = point.seconds;
  }
  return rings;
}

std::string BytesText(double bytes) {
  if (bytes >= 1 << 20)
    return absl::StrCat(FigureText(bytes / (1 << 20)), " MiB");
  if (bytes >= 1 << 10)
    return absl::StrCat(FigureText(bytes / (1 << 10)), " KiB");
  return absl::StrCat(FigureText(bytes), " B");
}

std::string Notes(const Comparison& comparison) {
  std::string html;
  for (const std::string& note : comparison.collective_notes) {
    html += HtmlParagraph(absl::StrCat(note, "."));
  }
  return html;
}

// What is read from the lines, and what not.
std::string About(const Comparison& comparison) {
  std::string text =
      "The workers of a ring sum a bucket of the dense gradient in one "
      "AllReduce (--bucket_bytes). Here it was measured by itself, by shoal "
      "bench allreduce with one rank on each host: in small sizes the time of "
      "the messages counts, in large ones the link. The rate is the busbw of "
      "nccl-tests, which each link carries each way, so lines of one network "
      "end near its rate.";
  if (comparison.where == "lab") {
    absl::StrAppend(&text,
                    " Latency is not played: the links of a lab have some "
                    "tens of microseconds, divided by the dilation, so the "
                    "left ends of the lines are better than on real hosts.");
  } else if (comparison.where == "loopback") {
    absl::StrAppend(&text,
                    " All ranks were on this machine, so the rate is that of "
                    "its processor and memory, and tells nothing of "
                    "networks.");
  }
  return HtmlParagraph(text);
}

}  // namespace

std::string CollectiveSection(const Comparison& comparison) {
  const char* heading = "AllReduce over the size of a bucket";
  const std::vector<Ring> rings = RingsOf(comparison);
  if (rings.empty()) {
    return ReportSection(
        "collective", heading,
        absl::StrCat(LeftOut("no AllReduce was measured by itself"),
                     Notes(comparison)));
  }
  LineChart chart;
  chart.x = {"bytes of the bucket", AxisScale::kLog};
  chart.y = {"GB/s on each link: 2 (n − 1) / n × bytes ÷ seconds",
             AxisScale::kLog};
  HtmlTable table("collective", "AllReduce by network, ranks and bytes",
                  {{"network", "network", false},
                   {"ranks", "ranks"},
                   {"bytes", "bytes"},
                   {"seconds", "time of one, µs"},
                   {"bus_rate", "GB/s on each link"}});
  std::map<double, std::string> ticks;
  for (const Ring& ring : rings) {
    LineSeries series;
    series.name = ring.Name();
    series.style = static_cast<int>(chart.series.size());
    for (const auto& [size, seconds] : ring.seconds) {
      const auto bytes = static_cast<double>(size);
      const double rate = BusRate(ring.ranks, bytes, seconds) / 1e9;
      series.points.push_back({bytes, rate});
      ticks[bytes] = BytesText(bytes);
      table.AddRow(absl::StrCat(ring.network, "_", ring.ranks, "_", size),
                   false,
                   {ring.network, absl::StrCat(ring.ranks), FigureText(bytes),
                    FigureText(seconds * 1e6), FigureText(rate)});
    }
    chart.series.push_back(std::move(series));
  }
  for (const auto& [bytes, text] : ticks)
    chart.x.ticks.push_back({bytes, text});
  SetFrame("collective1", "AllReduce of a ring over the size of its bucket",
           "Lines of the rate of an AllReduce over its bytes, one for each "
           "network and number of ranks. The table below has the figures.",
           &chart);
  return ReportSection(
      "collective", heading,
      absl::StrCat(About(comparison), "<figure>\n", DrawLineChart(chart),
                   table.Html(), "</figure>\n", Notes(comparison)));
}

}  // namespace shoal
