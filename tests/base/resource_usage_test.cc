#include "base/resource_usage.h"

#include <vector>

#include "gtest/gtest.h"

namespace shoal {
namespace {

TEST(ResourceUsage, MemoryThatIsTouchedShowsAndThePeakStays) {
  const ResourceUsage before = CurrentResourceUsage();
  ASSERT_GT(before.rss_bytes, 0u);
  constexpr size_t kBytes = 64 << 20;
  {
    std::vector<char> memory(kBytes, 1);
    const ResourceUsage during = CurrentResourceUsage();
    ASSERT_EQ(memory[kBytes - 1], 1);
    EXPECT_GE(during.rss_bytes, before.rss_bytes + kBytes * 9 / 10);
    EXPECT_GE(during.peak_rss_bytes, during.rss_bytes);
  }
  const ResourceUsage after = CurrentResourceUsage();
  EXPECT_GE(after.peak_rss_bytes, before.rss_bytes + kBytes * 9 / 10);
  EXPECT_LT(after.rss_bytes, after.peak_rss_bytes);
}

TEST(ResourceUsage, WorkTakesProcessorTime) {
  const double before = CurrentResourceUsage().cpu_seconds;
  volatile double sum = 0;
  // Ends by the figure itself: a counter that stands still hits the timeout.
  while (CurrentResourceUsage().cpu_seconds < before + 0.02) {
    for (int i = 0; i < 10'000; ++i) sum = sum + i;
  }
  EXPECT_GT(sum, 0);
}

}  // namespace
}  // namespace shoal
