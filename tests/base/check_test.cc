#include "base/check.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "partitioner/fixed_size.h"

namespace shoal {
namespace {

bool Count(int* evaluated) { return ++*evaluated > 0; }

TEST(CheckTest, WhatHoldsPasses) {
  int evaluated = 0;
  SHOAL_DCHECK(Count(&evaluated));
  EXPECT_EQ(evaluated, SHOAL_DCHECKS_ON);
  SHOAL_DCHECK(std::pair<int, int>(1, 2).first == 1);  // with a comma
}

TEST(CheckDeathTest, WhatDoesNotHoldIsNamedWithItsPlace) {
  if (!SHOAL_DCHECKS_ON) {
    SHOAL_DCHECK(1 + 1 == 3);
    GTEST_SKIP() << "this build has no SHOAL_DCHECK (option SHOAL_DCHECKS)";
  }
  EXPECT_DEATH(SHOAL_DCHECK(1 + 1 == 3),
               "check_test.cc:[0-9]+: SHOAL_DCHECK failed: 1 \\+ 1 == 3");
}

// As a caller would break it.
TEST(CheckDeathTest, ABrokenRequirementOfAHeaderIsCaught) {
  if (!SHOAL_DCHECKS_ON) {
    GTEST_SKIP() << "this build has no SHOAL_DCHECK (option SHOAL_DCHECKS)";
  }
  EXPECT_EQ(FixedSizePart(10, 4, 9), 3u);
  EXPECT_DEATH(FixedSizePart(10, 4, 10), "SHOAL_DCHECK failed: index < length");
}

}  // namespace
}  // namespace shoal
