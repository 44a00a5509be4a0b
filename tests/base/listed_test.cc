#include "base/listed.h"

#include "gtest/gtest.h"

namespace shoal {
namespace {

TEST(ListedTest, TheWordComesBeforeTheLastPart) {
  EXPECT_EQ(Listed({}, "and"), "");
  EXPECT_EQ(Listed({"1"}, "and"), "1");
  EXPECT_EQ(Listed({"1", "2"}, "and"), "1 and 2");
  EXPECT_EQ(Listed({"sync", "hybrid", "ring"}, "or"), "sync, hybrid or ring");
}

}  // namespace
}  // namespace shoal
