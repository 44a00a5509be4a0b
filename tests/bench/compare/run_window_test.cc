#include "bench/compare/run_window.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

constexpr absl::Duration kCellTime = absl::Seconds(6);
constexpr absl::Duration kLongest = absl::Seconds(72);

RunWindow Window(bool slowed = false) {
  return RunWindow(/*warmup=*/24, /*hosts=*/2, kCellTime, slowed,
                   /*dilation=*/1);
}

TEST(RunWindowTest, EndsAfterTheTimeOfACell) {
  RunWindow window = Window();
  EXPECT_FALSE(window.IsOver(500, absl::Seconds(5.9)));
  EXPECT_TRUE(window.IsOver(600, kCellTime));
  EXPECT_TRUE(window.status().ok());
}

TEST(RunWindowTest, ASlowJobGoesOnUntilEachWorkerHasMadeItsSteps) {
  RunWindow window = Window();
  EXPECT_FALSE(window.IsOver(63, absl::Seconds(60)));
  EXPECT_TRUE(window.IsOver(64, absl::Seconds(61)));
  EXPECT_TRUE(window.status().ok());
}

TEST(RunWindowTest, HalfOfThemAreNeeded) {
  RunWindow window = Window();
  EXPECT_FALSE(window.IsOver(44, kLongest - absl::Seconds(1)));
  EXPECT_TRUE(window.IsOver(44, kLongest));
  EXPECT_TRUE(window.status().ok());
  RunWindow slower = Window();
  EXPECT_TRUE(slower.IsOver(43, kLongest));
  EXPECT_TRUE(absl::IsDeadlineExceeded(slower.status()));
  EXPECT_THAT(std::string(slower.status().message()),
              HasSubstr("the job made 43 steps in 1m12s, and its figures need "
                        "20 after the 24 of its warm-up; give a larger "
                        "--cell_time"));
  EXPECT_EQ(slower.early(), std::nullopt);
}

TEST(RunWindowTest, AShortCellHasAMinute) {
  RunWindow window(24, 2, absl::Milliseconds(100), /*slowed=*/false, 1);
  EXPECT_FALSE(window.IsOver(0, absl::Seconds(59)));
  EXPECT_TRUE(window.IsOver(0, absl::Seconds(60)));
  EXPECT_FALSE(window.status().ok());
}

TEST(RunWindowTest, ACellThatIsPlayedSlowlyHasLonger) {
  RunWindow window(24, 2, absl::Seconds(1), /*slowed=*/false, /*dilation=*/64);
  EXPECT_FALSE(window.IsOver(30, absl::Seconds(639)));
  EXPECT_TRUE(window.IsOver(44, absl::Seconds(640)));
  EXPECT_TRUE(window.status().ok()) << window.status();
}

TEST(RunWindowTest, WithoutATimeTheJobEndsByItself) {
  RunWindow window(24, 2, absl::ZeroDuration(), /*slowed=*/false, 1);
  EXPECT_FALSE(window.IsOver(0, absl::Hours(1)));
  EXPECT_FALSE(window.IsOver(9000, absl::Hours(2)));
  EXPECT_TRUE(window.status().ok());
}

TEST(RunWindowTest, AJobThatIsSlowedMustNotHaveTrainedForHalfItsWarmUp) {
  RunWindow fast = Window();
  EXPECT_FALSE(fast.IsOver(12, absl::Seconds(1)));
  RunWindow window = Window(/*slowed=*/true);
  EXPECT_TRUE(window.IsOver(12, absl::Seconds(1)));
  EXPECT_EQ(window.early(), 12u);
  EXPECT_TRUE(absl::IsAborted(window.status()));
  EXPECT_THAT(std::string(window.status().message()),
              HasSubstr("had trained 12 steps before its hosts"));
  // The first figures decide.
  RunWindow later = Window(/*slowed=*/true);
  EXPECT_FALSE(later.IsOver(11, absl::Seconds(1)));
  EXPECT_FALSE(later.IsOver(12, absl::Seconds(1)));
  EXPECT_TRUE(later.IsOver(64, kCellTime));
  EXPECT_TRUE(later.status().ok());
}

}  // namespace
}  // namespace shoal
