#include "bench/allreduce/turn_plan.h"

#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/allreduce/bus_rate.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;

TurnPlanOptions Options(std::vector<int> sizes) {
  TurnPlanOptions options;
  options.sizes = std::move(sizes);
  options.repeats = 3;
  options.turn_time = absl::Milliseconds(100);
  options.size_time = absl::Seconds(2);
  return options;
}

TEST(TurnPlanTest, EachSizeBeginsWithACallThatIsCheckedAndDoesNotCount) {
  TurnPlan plan(Options({4096, 8192}));
  EXPECT_EQ(plan.Next(), (AllReduceTurn{4096, 1, true}));
  // Its time says how many calls a turn has.
  plan.OnTurn(absl::Milliseconds(1));
  EXPECT_EQ(plan.Next(), (AllReduceTurn{4096, 100, false}));
  plan.OnTurn(absl::Milliseconds(50));  // 0.5 ms a call
  EXPECT_EQ(plan.Next(), (AllReduceTurn{4096, 200, false}));
  plan.OnTurn(absl::Milliseconds(80));  // 0.4 ms
  EXPECT_EQ(plan.Next(), (AllReduceTurn{4096, 250, false}));
  EXPECT_TRUE(plan.points().empty());
  plan.OnTurn(absl::Milliseconds(175));  // 0.7 ms
  EXPECT_EQ(plan.Next(), (AllReduceTurn{8192, 1, true}));
  ASSERT_EQ(plan.points().size(), 1u);
  const AllReducePoint& point = plan.points()[0];
  EXPECT_EQ(point.bytes, 4096u);
  EXPECT_DOUBLE_EQ(point.seconds, .5e-3);
  EXPECT_DOUBLE_EQ(point.least, .4e-3);
  EXPECT_DOUBLE_EQ(point.most, .7e-3);
  EXPECT_EQ(point.calls, 550u);
}

TEST(TurnPlanTest, TheMedianOfTwoTurnsIsTheirMean) {
  TurnPlanOptions options = Options({4});
  options.repeats = 2;
  options.turn_time = absl::Milliseconds(1);
  TurnPlan plan(options);
  for (const int milliseconds : {9, 2, 4}) {
    EXPECT_EQ(plan.Next().calls, 1u);
    plan.OnTurn(absl::Milliseconds(milliseconds));
  }
  EXPECT_DOUBLE_EQ(plan.points().at(0).seconds, 3e-3);
}

TEST(TurnPlanTest, ASlowSizeHasFewerTurnsButOneAtLeast) {
  TurnPlan plan(Options({1 << 26}));
  plan.OnTurn(absl::Seconds(10));
  EXPECT_EQ(plan.Next(), (AllReduceTurn{1 << 26, 1, false}));
  plan.OnTurn(absl::Milliseconds(1500));
  EXPECT_EQ(plan.Next(), (AllReduceTurn{1 << 26, 1, false}));
  plan.OnTurn(absl::Milliseconds(1600));  // 3.1 s in turns that count
  EXPECT_EQ(plan.Next().calls, 0u);
  EXPECT_DOUBLE_EQ(plan.points().at(0).seconds, 1.55);

  TurnPlan once(Options({1 << 26}));
  once.OnTurn(absl::Seconds(10));
  once.OnTurn(absl::Seconds(9));
  EXPECT_EQ(once.Next().calls, 0u);
  EXPECT_DOUBLE_EQ(once.points().at(0).seconds, 9);
}

TEST(TurnPlanTest, ATurnHasALimitOfCalls) {
  TurnPlan plan(Options({4}));
  plan.OnTurn(absl::ZeroDuration());  // a clock that did not move
  EXPECT_EQ(plan.Next().calls, TurnPlan::kMostCalls);
}

TEST(TurnPlanTest, WithoutSizesThereIsNothingToDo) {
  EXPECT_EQ(TurnPlan(Options({})).Next().calls, 0u);
}

TEST(BusRateTest, IsThatOfNcclTests) {
  EXPECT_DOUBLE_EQ(BusRate(2, 1e6, .001), 1e9);
  EXPECT_DOUBLE_EQ(BusRate(8, 1e6, .001), 1.75e9);
  EXPECT_EQ(BusRate(1, 1e6, .001), 0);
  EXPECT_EQ(BusRate(4, 1e6, 0), 0);
  EXPECT_THAT(AllReduceSizes(),
              ElementsAre(4096, 16384, 65536, 262144, 1048576, 4194304,
                          16777216, 67108864));
}

}  // namespace
}  // namespace shoal
