#include "cluster/bad_row_list.h"

#include "gtest/gtest.h"

namespace shoal {
namespace {

TEST(BadRowListTest, TellsAReasonOnce) {
  EXPECT_EQ(BadRowList({}), "");
  EXPECT_EQ(BadRowList({"a:1: bad: id"}), "a:1: bad: id");
  EXPECT_EQ(BadRowList({"a:1: bad: id", "a:21: bad: id", "b:1: bad: id"}),
            "a:1, a:21, b:1: bad: id");
  EXPECT_EQ(BadRowList({"a:1: x", "a: record 7: x", "a: byte 90: x", "a:2: y",
                        "a:3: x"}),
            "a:1, a: record 7, a: byte 90: x; a:2: y; a:3: x");
}

TEST(BadRowListTest, RowsWithoutAPlaceStandAsTheyAre) {
  EXPECT_EQ(BadRowList({"piece 3 (a)", "piece 3 (a)", "a:1: x: y", "b: y"}),
            "piece 3 (a); piece 3 (a); a:1: x: y; b: y");
}

}  // namespace
}  // namespace shoal
