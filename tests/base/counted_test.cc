#include "base/counted.h"

#include "gtest/gtest.h"

namespace shoal {
namespace {

TEST(CountedTest, OneIsNotPlural) {
  EXPECT_EQ(Counted(0, "epoch"), "0 epochs");
  EXPECT_EQ(Counted(1, "epoch"), "1 epoch");
  EXPECT_EQ(Counted(2, "epoch"), "2 epochs");
}

}  // namespace
}  // namespace shoal
