#include "base/path.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;

TEST(Path, CleanRemovesWhatSaysNothing) {
  EXPECT_EQ(CleanPath(""), "");
  EXPECT_EQ(CleanPath("/"), "/");
  EXPECT_EQ(CleanPath("./"), ".");
  EXPECT_EQ(CleanPath("a"), "a");
  EXPECT_EQ(CleanPath("./a//b/./c/"), "a/b/c");
  EXPECT_EQ(CleanPath("//a/./b"), "/a/b");
  EXPECT_EQ(CleanPath("a/../b"), "a/../b");
}

TEST(Path, JoinAndSplitAreInverse) {
  EXPECT_EQ(JoinPath("a", "b"), "a/b");
  EXPECT_EQ(JoinPath("", "b"), "b");
  EXPECT_EQ(JoinPath(".", "b"), "b");
  EXPECT_EQ(JoinPath("/", "b"), "/b");
  for (const char* path : {"a", "/a", "a/b", "/a/b", "a/b/c"}) {
    EXPECT_EQ(JoinPath(Dirname(path), Basename(path)), path);
  }
  EXPECT_EQ(Dirname("a"), ".");
  EXPECT_EQ(Dirname("/a"), "/");
  EXPECT_EQ(Dirname("a/b/c"), "a/b");
  EXPECT_EQ(Basename("a/b/c"), "c");
}

TEST(Path, HiddenNamesAndGlobs) {
  EXPECT_TRUE(IsHiddenName("_SUCCESS"));
  EXPECT_TRUE(IsHiddenName(".part"));
  EXPECT_FALSE(IsHiddenName("tr_1"));
  EXPECT_FALSE(IsHiddenName(""));
  EXPECT_TRUE(IsGlob("tr*"));
  EXPECT_TRUE(IsGlob("tr?"));
  EXPECT_TRUE(IsGlob("tr[12]"));
  EXPECT_FALSE(IsGlob("tr1"));
}

TEST(Path, PatternsAreCleanedAndEmptyOnesKept) {
  const auto none = [](const std::string&) { return false; };
  EXPECT_THAT(SplitPatterns("a/,./b,,c*", none),
              ElementsAre("a", "b", "", "c*"));
  EXPECT_THAT(SplitPatterns("", none), ElementsAre(""));
}

}  // namespace
}  // namespace shoal
