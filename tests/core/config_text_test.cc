#include "core/config_text.h"

#include <gtest/gtest.h>

namespace shoal {
namespace {

TEST(ConfigInPresentNames, RenamesWhatOlderReleasesWrote) {
  EXPECT_EQ(ConfigInPresentNames("batch_size=9\ndeep_layers=8,4\n"
                                 "dropout=0.5,0.75\nembedding_size=3\nps=2\n"),
            "batch_size=9\ndeep_layers=8,4\nembedding_size=3\n"
            "keep_prob=0.5,0.75\nps=2\n");
  EXPECT_EQ(ConfigInPresentNames("dropout=\nfield_size=4\n"),
            "field_size=4\nkeep_prob=\n");
}

TEST(ConfigInPresentNames, UnitsThatAreAllKeptAreAnEmptyList) {
  EXPECT_EQ(ConfigInPresentNames("a=1\ndropout=1,1,1\n"), "a=1\nkeep_prob=\n");
  EXPECT_EQ(ConfigInPresentNames("keep_prob=1\n"), "keep_prob=\n");
  EXPECT_EQ(ConfigInPresentNames("keep_prob=1,0.5\n"), "keep_prob=1,0.5\n");
}

TEST(ConfigInPresentNames, LeavesEveryOtherTextAsItIs) {
  for (const char* text :
       {"", "\n", "b=1\na=2", "keep_prob=0.5\nmodel=dropout\n",
        "dropouts=1\n", "a=dropout=3\n"}) {
    EXPECT_EQ(ConfigInPresentNames(text), text);
  }
}

TEST(ConfigValue, IsTheWholeValueOfTheFlagOfThisName) {
  const char* const text = "a=1\nmode=ring\nmode_of=x\nname=a=b\nnone=\n";
  EXPECT_EQ(ConfigValue(text, "mode"), "ring");
  EXPECT_EQ(ConfigValue(text, "name"), "a=b");
  EXPECT_EQ(ConfigValue(text, "none"), "");
  EXPECT_EQ(ConfigValue(text, "mod"), "");
  EXPECT_EQ(ConfigValue("", "a"), "");
}

}  // namespace
}  // namespace shoal
