#include "base/saturating.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace shoal {
namespace {

constexpr uint64_t kMost = ~uint64_t{0};

TEST(SaturatingTest, SumsAndProductsStopAtTheLargestNumber) {
  EXPECT_EQ(SaturatingAdd(2, 3), 5u);
  EXPECT_EQ(SaturatingAdd(kMost - 3, 3), kMost);
  EXPECT_EQ(SaturatingAdd(kMost - 3, 4), kMost);
  EXPECT_EQ(SaturatingAdd(kMost, kMost), kMost);
  EXPECT_EQ(SaturatingTimes(6, 7), 42u);
  EXPECT_EQ(SaturatingTimes(0, kMost), 0u);
  EXPECT_EQ(SaturatingTimes(kMost, 0), 0u);
  EXPECT_EQ(SaturatingTimes(uint64_t{1} << 32, uint64_t{1} << 31),
            uint64_t{1} << 63);
  EXPECT_EQ(SaturatingTimes(uint64_t{1} << 32, uint64_t{1} << 32), kMost);
}

}  // namespace
}  // namespace shoal
