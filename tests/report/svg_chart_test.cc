#include "report/svg_chart.h"

#include <limits>
#include <regex>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// An element <text> of a picture.
struct Written {
  double x = 0;
  double y = 0;
  std::string text;
};

std::vector<Written> TextsOf(const std::string& svg) {
  static const std::regex kText(
      "<text [^>]* x=\"([-0-9.]+)\" y=\"([-0-9.]+)\"[^>]*>([^<]*)</text>");
  std::vector<Written> texts;
  for (auto match = std::sregex_iterator(svg.begin(), svg.end(), kText);
       match != std::sregex_iterator(); ++match) {
    texts.push_back(
        {std::stod((*match)[1]), std::stod((*match)[2]), (*match)[3]});
  }
  return texts;
}

Written TextOf(const std::string& svg, const std::string& text) {
  for (const Written& written : TextsOf(svg)) {
    if (written.text == text) return written;
  }
  ADD_FAILURE() << "no text " << text << " in\n" << svg;
  return {};
}

// Every element is closed, in order: what an XML reader asks for.
void ExpectWellFormed(const std::string& svg) {
  static const std::regex kTag("<(/?)([a-z]+)[^<>]*?(/?)>");
  std::vector<std::string> open;
  for (auto match = std::sregex_iterator(svg.begin(), svg.end(), kTag);
       match != std::sregex_iterator(); ++match) {
    if ((*match)[3] == "/") continue;
    if ((*match)[1] == "/") {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(open.back(), (*match)[2]);
      open.pop_back();
    } else {
      open.push_back((*match)[2]);
    }
  }
  EXPECT_TRUE(open.empty());
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
}

LineChart TwoLines() {
  LineChart chart;
  chart.x = {"hosts", AxisScale::kLog};
  chart.x.ticks = {{1, "1"}, {2, "2"}, {4, "4"}};
  chart.y = {"samples/s"};
  chart.series = {
      {"async", 0, {{1, 100, 90, 110}, {2, 190}, {4, 370, 360, 380, "0.93"}}},
      {"ring", 3, {{1, 100}, {2, 150}, {4, 369, {}, {}, "0.92"}}}};
  return chart;
}

TEST(SvgChartTest, TheSameChartGivesTheSameText) {
  EXPECT_EQ(DrawLineChart(TwoLines()), DrawLineChart(TwoLines()));
  ExpectWellFormed(DrawLineChart(TwoLines()));
}

TEST(SvgChartTest, LinesHaveLegendTicksAndLabels) {
  const std::string svg = DrawLineChart(TwoLines());
  for (const char* text : {"async", "ring", "hosts", "samples/s", "1", "2", "4",
                           "0", "100", "0.93", "0.92"}) {
    TextOf(svg, text);
  }
  // 100 and 0 on the axis: the larger value is higher.
  EXPECT_LT(TextOf(svg, "100").y, TextOf(svg, "0").y);
}

TEST(SvgChartTest, LabelsOfEqualPointsAreBelowEachOther) {
  const std::string svg = DrawLineChart(TwoLines());
  const Written first = TextOf(svg, "0.93"), second = TextOf(svg, "0.92");
  EXPECT_EQ(first.x, second.x);
  EXPECT_GE(second.y - first.y, 12);
}

TEST(SvgChartTest, LongLabelsStayInsideThePicture) {
  LineChart chart = TwoLines();
  chart.series[0].points.back().label = "0.93 the mode with the long name";
  for (const Written& written : TextsOf(DrawLineChart(chart))) {
    if (written.text.size() < 20) continue;
    EXPECT_LE(written.x + TextWidth(written.text, 11), chart.width);
  }
}

TEST(SvgChartTest, ValuesWithoutAPlaceAreLeftOut) {
  LineChart chart = TwoLines();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string before = DrawLineChart(chart);
  chart.series[0].points.push_back({8, nan});
  chart.series[0].points.push_back({0, 12, {}, {}, "nowhere"});
  ExpectWellFormed(DrawLineChart(chart));
  EXPECT_THAT(DrawLineChart(chart), Not(HasSubstr("nowhere")));

  BarChart bars;
  bars.keys = {{"bytes", 0}};
  bars.groups = {{"", {{"a", {{0, nan}, {0, 4}}, nan, nan, nan}, {"b", {}}}}};
  ExpectWellFormed(DrawBarChart(bars));
}

TEST(SvgChartTest, LooksAreInTheLegendIfTheyAreThere) {
  LineChart chart = TwoLines();
  chart.hollow_means = "replayed";
  chart.grey_means = "greyed";
  EXPECT_THAT(DrawLineChart(chart),
              AllOf(Not(HasSubstr("replayed")), Not(HasSubstr("greyed"))));
  chart.series[0].points[1].look = ChartLook::kHollow;
  chart.series[1].points[1].look = ChartLook::kGrey;
  EXPECT_THAT(DrawLineChart(chart),
              AllOf(HasSubstr(">replayed<"), HasSubstr(">greyed<")));
}

TEST(SvgChartTest, TextIsEscaped) {
  const std::string bad = "<b> & \"c\" \x01\xff";
  const std::string good = "&lt;b&gt; &amp; &quot;c&quot;  \xef\xbf\xbd";
  LineChart lines = TwoLines();
  lines.title = lines.about = lines.x.title = lines.series[0].name = bad;
  lines.series[0].points[0].label = lines.series[0].points[0].tip = bad;
  BarChart bars;
  bars.title = bars.about = bad;
  bars.keys = {{bad, 0, ChartHatch::kDots}};
  bars.groups = {{bad, {{bad, {{0, 5, bad}}, {}, {}, {}, bad}}}};
  bars.groups[0].bars[0].tip = bad;
  MapChart map;
  map.title = map.about = map.x_title = map.y_title = bad;
  map.columns = map.rows = {bad};
  map.keys = {{bad, 1}};
  map.cells = {{{0, bad}}};
  map.cells[0][0].tip = bad;
  for (const std::string& svg :
       {DrawLineChart(lines), DrawBarChart(bars), DrawMapChart(map)}) {
    EXPECT_THAT(svg, HasSubstr(good));
    EXPECT_THAT(svg, Not(HasSubstr("<b>")));
    ExpectWellFormed(svg);
  }
}

TEST(SvgChartTest, BarsStackTheirPartsAndMarkTheFormula) {
  BarChart chart;
  chart.mark_means = "formula";
  chart.axis = {"bytes a sample"};
  chart.keys = {{"sent", 0}, {"received", 5, ChartHatch::kRising}};
  chart.groups = {{"2 hosts", {{"async", {{0, 30}, {1, 10}}, {}, {}, 40}}}};
  const std::string svg = DrawBarChart(chart);
  ExpectWellFormed(svg);
  static const std::regex kBar(
      "<rect x=\"([0-9.]+)\" y=\"[0-9.]+\" width=\"([0-9.]+)\" height=\"14\" "
      "fill=\"#");
  std::vector<std::pair<double, double>> bars;
  for (auto match = std::sregex_iterator(svg.begin(), svg.end(), kBar);
       match != std::sregex_iterator(); ++match) {
    bars.emplace_back(std::stod((*match)[1]), std::stod((*match)[2]));
  }
  ASSERT_EQ(bars.size(), 2);
  EXPECT_NEAR(bars[0].first + bars[0].second, bars[1].first, .2);
  EXPECT_NEAR(bars[0].second, 3 * bars[1].second, .2);
  TextOf(svg, "formula");
}

TEST(SvgChartTest, TextsAtBarsStayInsideThePicture) {
  BarChart chart;
  chart.keys = {{"seconds", 0}};
  chart.groups = {{"", {}}};
  for (const double value : {1.0, 50.0, 97.0}) {
    chart.groups[0].bars.push_back({"a mode",
                                    {{0, value}},
                                    {},
                                    {},
                                    {},
                                    "the target was reached after a while"});
  }
  for (const Written& written : TextsOf(DrawBarChart(chart))) {
    if (written.text.size() < 20) continue;
    EXPECT_LE(written.x + TextWidth(written.text, 12), chart.width);
  }
}

TEST(SvgChartTest, AMapHasTheKeysThatItShowsAndItsFirstRowIsBelow) {
  MapChart map;
  map.columns = {"2", "4"};
  map.rows = {"1 Gbit/s", "10 Gbit/s"};
  map.keys = {{"async", 0}, {"sync", 2}, {"ring", 3}};
  map.cells = {{{0, "async\n1.3"}, {0, "async"}}, {{2, "ring"}}};
  const std::string svg = DrawMapChart(map);
  ExpectWellFormed(svg);
  EXPECT_THAT(svg, Not(HasSubstr(">sync<")));
  EXPECT_LT(TextOf(svg, "10 Gbit/s").y, TextOf(svg, "1 Gbit/s").y);
  EXPECT_LT(TextOf(svg, "2").x, TextOf(svg, "4").x);
  EXPECT_LT(TextOf(svg, "1.3").y - TextOf(svg, "async").y, 500);
}

TEST(SvgChartTest, EveryStyleHasAColourAndAMarkerOfItsOwn) {
  std::vector<std::string> colours, markers;
  for (int style = 0; style < 8; ++style) {
    SvgCanvas canvas("c", 10, 10, "");
    canvas.Marker(5, 5, style, ChartLook::kGrey);  // its shape alone
    const std::string marker = canvas.Finish();
    EXPECT_THAT(markers, Not(Contains(marker))) << style;
    EXPECT_THAT(colours, Not(Contains(ChartColour(style)))) << style;
    markers.push_back(marker);
    colours.push_back(ChartColour(style));
  }
  EXPECT_STREQ(ChartColour(9), ChartColour(1));
  EXPECT_STREQ(ChartColour(-1), ChartColour(7));
}

TEST(SvgChartTest, PicturesNeedNothingElse) {
  const std::string svg = DrawLineChart(TwoLines());
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, Not(HasSubstr("href")));
  EXPECT_THAT(svg, HasSubstr("aria-label"));
}

}  // namespace
}  // namespace shoal
