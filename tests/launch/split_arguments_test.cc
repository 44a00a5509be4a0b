#include "launch/split_arguments.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SplitArgumentsTest : public ::testing::Test {
 protected:
  SplitArgumentsTest() : set_("shoal test", "") {
    set_.Add({"lab", &lab_, ""});
    set_.Add({"hosts", &hosts_, ""});
    set_.Add({"out", &out_, ""});
  }

  bool lab_ = false;
  std::string hosts_;
  std::string out_;
  FlagSet set_;
};

TEST_F(SplitArgumentsTest, KnowsWhoseFlagAnArgumentIs) {
  const SplitArguments split =
      SplitByFlagSet(set_, {"--lab", "--hosts", "1,2", "--seed", "3",
                            "--shuffle", "--out=x", "--deep_layers=4,4"});
  EXPECT_THAT(split.own, ElementsAre("--lab", "--hosts", "1,2", "--out=x"));
  EXPECT_THAT(split.job,
              ElementsAre("--seed", "3", "--shuffle", "--deep_layers=4,4"));
}

TEST_F(SplitArgumentsTest, AValueStaysWithItsFlagAlsoIfItBeginsWithADash) {
  const SplitArguments split =
      SplitByFlagSet(set_, {"--hosts", "-1", "--l2", "-0.1"});
  EXPECT_THAT(split.own, ElementsAre("--hosts", "-1"));
  EXPECT_THAT(split.job, ElementsAre("--l2", "-0.1"));
}

// So the command itself answers both.
TEST_F(SplitArgumentsTest,
       HelpIsTheCommandsAndAStrayWordGoesWithTheFlagBeforeIt) {
  EXPECT_THAT(SplitByFlagSet(set_, {"--seed=3", "-h"}).own, ElementsAre("-h"));
  EXPECT_THAT(SplitByFlagSet(set_, {"--seed=3", "--help"}).own,
              ElementsAre("--help"));
  const SplitArguments stray = SplitByFlagSet(set_, {"stray"});
  EXPECT_THAT(stray.own, ElementsAre("stray"));
  EXPECT_THAT(stray.job, IsEmpty());
  EXPECT_THAT(SplitByFlagSet(set_, {"--shuffle", "stray"}).job,
              ElementsAre("--shuffle", "stray"));
}

}  // namespace
}  // namespace shoal
