#include "report/chart_axis.h"

#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Texts(const AxisLayout& layout) {
  std::vector<std::string> texts;
  for (const AxisTick& tick : layout.ticks) texts.push_back(tick.text);
  return texts;
}

TEST(ChartAxisTest, LinearTicksAreRoundAndBeginAtZero) {
  const AxisLayout axis = LayOutAxis({"samples/s"}, {41234, 97000}, 6);
  EXPECT_EQ(axis.least, 0);
  EXPECT_EQ(axis.most, 100000);
  EXPECT_THAT(Texts(axis),
              ElementsAre("0", "20 k", "40 k", "60 k", "80 k", "100 k"));
  EXPECT_DOUBLE_EQ(axis.Place(50000), .5);
}

TEST(ChartAxisTest, LinearTicksNearTheValuesWhereZeroIsNotAsked) {
  ChartAxis axis;
  axis.from_zero = false;
  EXPECT_THAT(Texts(LayOutAxis(axis, {.712, .771}, 5)),
              ElementsAre("0.70", "0.72", "0.74", "0.76", "0.78"));
}

TEST(ChartAxisTest, LogarithmicTicksAreOneTwoFive) {
  ChartAxis axis;
  axis.scale = AxisScale::kLog;
  EXPECT_THAT(Texts(LayOutAxis(axis, {2e3, 1.5e4}, 12)),
              ElementsAre("2 k", "5 k", "10 k", "20 k"));
  EXPECT_THAT(Texts(LayOutAxis(axis, {1e-5, .5}, 6)),
              ElementsAre("1e-05", "0.0001", "0.001", "0.01", "0.1"));
}

TEST(ChartAxisTest, OwnTicksAreTaken) {
  ChartAxis axis;
  axis.scale = AxisScale::kLog;
  axis.ticks = {{1, "1"}, {2, "2"}, {4, "4"}};
  const AxisLayout layout = LayOutAxis(axis, {1, 4}, 9);
  EXPECT_THAT(Texts(layout), ElementsAre("1", "2", "4"));
  EXPECT_DOUBLE_EQ(layout.Place(2), .5);
}

TEST(ChartAxisTest, ValuesWithoutAPlaceAreLeftOut) {
  ChartAxis axis;
  axis.scale = AxisScale::kLog;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const AxisLayout layout = LayOutAxis(axis, {nan, 0, -4, 10, 100}, 9);
  EXPECT_EQ(layout.least, 10);
  EXPECT_EQ(layout.most, 100);
  EXPECT_FALSE(layout.Has(0));
  EXPECT_FALSE(layout.Has(nan));
  EXPECT_TRUE(layout.Has(3));
}

TEST(ChartAxisTest, EveryAxisHasAnExtentAndFewTicks) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const AxisScale scale : {AxisScale::kLinear, AxisScale::kLog}) {
    for (const bool from_zero : {false, true}) {
      for (const std::vector<double>& values : {std::vector<double>{},
                                                {0},
                                                {7},
                                                {-3},
                                                {-3, 8},
                                                {infinity},
                                                {1e-300, 1e300},
                                                {5, 5 + 1e-12},
                                                {1e15, 3e15}}) {
        ChartAxis axis;
        axis.scale = scale;
        axis.from_zero = from_zero;
        const AxisLayout layout = LayOutAxis(axis, values, 5);
        EXPECT_LT(layout.least, layout.most);
        EXPECT_TRUE(std::isfinite(layout.most));
        EXPECT_LE(layout.ticks.size(), scale == AxisScale::kLog ? 610 : 7);
        if (scale == AxisScale::kLog) {
          EXPECT_GT(layout.least, 0);
        }
      }
    }
  }
}

TEST(ChartAxisTest, TicksOfAnAxisHaveOneUnit) {
  EXPECT_EQ(TickText(2000, 1000, 8000), "2000");
  EXPECT_EQ(TickText(2000, 2000, 20000), "2 k");
  EXPECT_EQ(TickText(500000, 500000, 2e6), "0.5 M");
  EXPECT_EQ(TickText(.02, .02, .1), "0.02");
  EXPECT_EQ(TickText(0, .5, 1), "0");
}

}  // namespace
}  // namespace shoal
