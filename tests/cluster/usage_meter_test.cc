#include "cluster/usage_meter.h"

#include "gtest/gtest.h"

namespace shoal {
namespace {

absl::Time At(double seconds) {
  return absl::UnixEpoch() + absl::Seconds(seconds);
}

ResourceUsage Cpu(double seconds) { return {seconds, 10, 20}; }

TEST(UsageMeterTest, SumsOverLivesADeadOneAtItsLastWord) {
  UsageMeter meter;
  meter.NewLife(At(0));
  meter.Add(Cpu(3), At(1));
  meter.Add(Cpu(5), At(2));
  meter.NewLife(At(3));
  EXPECT_DOUBLE_EQ(meter.cpu_seconds(), 5);
  meter.Add(Cpu(1), At(4));
  EXPECT_DOUBLE_EQ(meter.cpu_seconds(), 6);
  EXPECT_EQ(meter.peak_rss_bytes(), 20u);
}

TEST(UsageMeterTest, AWordThatGoesBackCountsForNothing) {
  UsageMeter meter;
  meter.NewLife(At(0));
  meter.Add(Cpu(5), At(1));
  meter.Add(Cpu(4), At(2));
  EXPECT_DOUBLE_EQ(meter.cpu_seconds(), 5);
}

TEST(UsageMeterTest, TheWindowsEdgesAreInterpolatedBetweenWords) {
  UsageMeter meter;
  meter.NewLife(At(0));
  meter.Add(Cpu(10), At(10));
  meter.OpenWindow(At(10.5));
  meter.Add(Cpu(12), At(11));  // 11 at the opening
  meter.Add(Cpu(13), At(12));
  EXPECT_DOUBLE_EQ(meter.WindowCpuSeconds(), 2);
  meter.CloseWindow(At(12.25));
  EXPECT_DOUBLE_EQ(meter.WindowCpuSeconds(), 2) << "until the next word";
  meter.Add(Cpu(17), At(13));  // 14 at the close
  EXPECT_DOUBLE_EQ(meter.WindowCpuSeconds(), 3);
  meter.Add(Cpu(99), At(20));
  EXPECT_DOUBLE_EQ(meter.WindowCpuSeconds(), 3);
}

TEST(UsageMeterTest, BothEdgesMayLieBetweenTwoWords) {
  UsageMeter meter;
  meter.NewLife(At(0));
  meter.OpenWindow(At(2));
  meter.CloseWindow(At(6));
  meter.Add(Cpu(8), At(8));
  EXPECT_DOUBLE_EQ(meter.WindowCpuSeconds(), 4);
}

TEST(UsageMeterTest, ALifeThatBeginsInTheWindowCountsWhole) {
  UsageMeter meter;
  meter.NewLife(At(5));
  meter.Add(Cpu(2), At(6));
  EXPECT_DOUBLE_EQ(meter.WindowCpuSeconds(), 2);
}

TEST(UsageMeterTest, AKilledLifeAddsNothingUntilTheNextRegisters) {
  UsageMeter meter;
  meter.NewLife(At(0));
  meter.OpenWindow(At(0));
  meter.Add(Cpu(4), At(4));
  meter.CloseWindow(At(5));
  meter.NewLife(At(6));
  meter.Add(Cpu(4), At(7));
  EXPECT_DOUBLE_EQ(meter.WindowCpuSeconds(), 4);
  EXPECT_DOUBLE_EQ(meter.cpu_seconds(), 8);
}

}  // namespace
}  // namespace shoal
