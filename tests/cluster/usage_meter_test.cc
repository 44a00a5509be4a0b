#include "cluster/usage_meter.h"

#include "gtest/gtest.h"

namespace shoal {
namespace {

absl::Time MeterAt(double seconds) {
  return absl::UnixEpoch() + absl::Seconds(seconds);
}

ResourceUsage Cpu(double seconds) { return {seconds, 10, 20}; }

TEST(UsageMeterTest, SumsOverLivesADeadOneAtItsLastWord) {
  UsageMeter meter;
  meter.NewLife(MeterAt(0));
  meter.Add(Cpu(3), MeterAt(1));
  meter.Add(Cpu(5), MeterAt(2));
  meter.NewLife(MeterAt(3));
  EXPECT_DOUBLE_EQ(meter.cpu_seconds(), 5);
  meter.Add(Cpu(1), MeterAt(4));
  EXPECT_DOUBLE_EQ(meter.cpu_seconds(), 6);
  EXPECT_EQ(meter.peak_rss_bytes(), 20u);
}

TEST(UsageMeterTest, AWordThatGoesBackCountsForNothing) {
  UsageMeter meter;
  meter.NewLife(MeterAt(0));
  meter.Add(Cpu(5), MeterAt(1));
  meter.Add(Cpu(4), MeterAt(2));
  EXPECT_DOUBLE_EQ(meter.cpu_seconds(), 5);
}

TEST(UsageMeterTest, TheWindowsEdgesAreInterpolatedBetweenWords) {
  UsageMeter meter;
  meter.NewLife(MeterAt(0));
  meter.Add(Cpu(10), MeterAt(10));
  meter.OpenWindow(MeterAt(10.5));
  meter.Add(Cpu(12), MeterAt(11));  // 11 at the opening
  meter.Add(Cpu(13), MeterAt(12));
  EXPECT_DOUBLE_EQ(meter.WindowCpuSeconds(), 2);
  meter.CloseWindow(MeterAt(12.25));
  EXPECT_DOUBLE_EQ(meter.WindowCpuSeconds(), 2) << "until the next word";
  meter.Add(Cpu(17), MeterAt(13));  // 14 at the close
  EXPECT_DOUBLE_EQ(meter.WindowCpuSeconds(), 3);
  meter.Add(Cpu(99), MeterAt(20));
  EXPECT_DOUBLE_EQ(meter.WindowCpuSeconds(), 3);
}

TEST(UsageMeterTest, BothEdgesMayLieBetweenTwoWords) {
  UsageMeter meter;
  meter.NewLife(MeterAt(0));
  meter.OpenWindow(MeterAt(2));
  meter.CloseWindow(MeterAt(6));
  meter.Add(Cpu(8), MeterAt(8));
  EXPECT_DOUBLE_EQ(meter.WindowCpuSeconds(), 4);
}

TEST(UsageMeterTest, ALifeThatBeginsInTheWindowCountsWhole) {
  UsageMeter meter;
  meter.NewLife(MeterAt(5));
  meter.Add(Cpu(2), MeterAt(6));
  EXPECT_DOUBLE_EQ(meter.WindowCpuSeconds(), 2);
}

TEST(UsageMeterTest, AKilledLifeAddsNothingUntilTheNextRegisters) {
  UsageMeter meter;
  meter.NewLife(MeterAt(0));
  meter.OpenWindow(MeterAt(0));
  meter.Add(Cpu(4), MeterAt(4));
  meter.CloseWindow(MeterAt(5));
  meter.NewLife(MeterAt(6));
  meter.Add(Cpu(4), MeterAt(7));
  EXPECT_DOUBLE_EQ(meter.WindowCpuSeconds(), 4);
  EXPECT_DOUBLE_EQ(meter.cpu_seconds(), 8);
}

}  // namespace
}  // namespace shoal
