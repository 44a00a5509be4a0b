#include "cmd/plan_map.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/mode_style.h"
#include "report/svg_chart.h"
#include "tests/plan/plan_examples.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

PlanRequest Request() {
  PlanRequest request;
  request.calibration = ExampleCalibration();
  request.job = MeasuredJob(request.calibration);
  request.cluster = ExampleCluster(4, 10);
  request.hosts = HostsToPlan(4);
  return request;
}

TEST(PlanMapTest, AModeHasTheColourThatItHasInAReport) {
  PlanRequest request = Request();
  for (const ModeShape& mode : ModeShapes()) {
    // Whichever modes are compared.
    request.modes = {&mode};
    const std::string map = DrawPlanMap(request);
    for (const ModeShape& other : ModeShapes()) {
      const std::string colour = ChartColour(ModeStyle(other.name));
      if (&other == &mode) {
        EXPECT_THAT(map, HasSubstr(colour)) << mode.name;
      } else {
        EXPECT_THAT(map, Not(HasSubstr(colour))) << mode.name;
      }
    }
  }
}

TEST(PlanMapTest, EveryNumberOfHostsIsAColumnAndEveryBandwidthARow) {
  PlanRequest request = Request();
  for (const ModeShape& mode : ModeShapes()) request.modes.push_back(&mode);
  const std::string map = DrawPlanMap(request);
  for (const char* const text :
       {">1</text>", ">2</text>", ">4</text>", "500 Mbit/s", "1 Gbit/s",
        "200 Gbit/s", "extrapolated"}) {
    EXPECT_THAT(map, HasSubstr(text));
  }
  EXPECT_THAT(map, Not(HasSubstr("300 Mbit/s")));
  // The cluster's own one too.
  request.cluster.bits_per_second = 3e8;
  EXPECT_THAT(DrawPlanMap(request), HasSubstr("300 Mbit/s"));
}

TEST(PlanMapTest, AModeThatIsHardlyFasterIsNotAhead) {
  PlanRequest request = Request();
  // One host: ssp is async there.
  request.modes = {FindModeShape("async"), FindModeShape("ssp")};
  request.hosts = {1};
  const std::string map = DrawPlanMap(request);
  EXPECT_THAT(map, HasSubstr("level with the next mode"));
  EXPECT_THAT(map, Not(HasSubstr("ahead")));
}

}  // namespace
}  // namespace shoal
