#include "launch/wrap_text.h"

#include <gtest/gtest.h>

namespace shoal {
namespace {

TEST(WrapTextTest, CutsAtSpaces) {
  EXPECT_EQ(WrapText("one two three", 9, 0), "one two\nthree");
  EXPECT_EQ(WrapText("one two three", 9, 2), "  one two\n  three");
  EXPECT_EQ(WrapText("a-word-that-is-longer no", 9, 0),
            "a-word-that-is-longer\nno");
  EXPECT_EQ(WrapText("", 9, 2), "  ");
}

TEST(WrapTextTest, KeepsParagraphsAndCommands) {
  EXPECT_EQ(WrapText("one two three:\n\n  a command --that=is long\nend", 9, 0),
            "one two\nthree:\n\n  a command --that=is long\nend");
}

}  // namespace
}  // namespace shoal
