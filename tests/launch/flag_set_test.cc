#include "launch/flag_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class FlagSetTest : public ::testing::Test {
 protected:
  FlagSetTest() : set_("shoal test", "Tests flags.") {
    set_.Group("First");
    set_.Add(
        {"batch_size", &batch_size_, "Examples of a batch.", IntRange{1, 100}});
    set_.Add({"data", &data_, "Where the data are.", {}, "no data, no test"});
    set_.Group("Second");
    set_.Add({"shuffle", &shuffle_, "Whether to shuffle."});
    set_.Add({"bad_rows", &bad_rows_, "Allowed.", IntRange{-1}});
    set_.AddForeign("listen", "shoal-ps");
  }

  std::string ParseError(const std::vector<std::string>& args) {
    return std::string(set_.Parse(args).message());
  }

  int batch_size_ = 10;
  std::string data_;
  bool shuffle_ = true;
  int64_t bad_rows_ = 0;
  FlagSet set_;
};

TEST_F(FlagSetTest, TakesValuesAfterEqualsAndAfterASpace) {
  ASSERT_TRUE(set_.Parse({"--batch_size=32", "--data", "/a=b", "--shuffle",
                          "false", "--bad_rows", "-1"})
                  .ok());
  EXPECT_EQ(batch_size_, 32);
  EXPECT_EQ(data_, "/a=b");
  EXPECT_FALSE(shuffle_);
  EXPECT_EQ(bad_rows_, -1);
  EXPECT_TRUE(set_.given("shuffle"));
}

TEST_F(FlagSetTest, KeepsDefaultsOfFlagsNotGiven) {
  ASSERT_TRUE(set_.Parse({"--data=x"}).ok());
  EXPECT_EQ(batch_size_, 10);
  EXPECT_TRUE(shuffle_);
  EXPECT_FALSE(set_.given("batch_size"));
}

TEST_F(FlagSetTest, SuggestsTheNearestFlag) {
  EXPECT_EQ(ParseError({"--batchsize=3", "--data=x"}),
            "shoal test has no flag --batchsize; did you mean --batch_size?");
}

TEST_F(FlagSetTest, SuggestsForSingleDashesToo) {
  EXPECT_EQ(ParseError({"-batch-size", "3"}),
            "shoal test has no flag --batch-size; did you mean --batch_size?");
}

TEST_F(FlagSetTest, SaysWhoTakesAForeignFlag) {
  EXPECT_EQ(ParseError({"--listen=:1", "--data=x"}),
            "--listen is a flag of shoal-ps; shoal test does not take it");
}

TEST_F(FlagSetTest, SaysWhyARequiredFlagIsNeeded) {
  EXPECT_EQ(ParseError({"--batch_size=3"}),
            "shoal test needs --data: no data, no test");
}

TEST_F(FlagSetTest, NamesABadValueBeforeAMissingFlag) {
  EXPECT_EQ(ParseError({"--batch_size=101"}),
            "--batch_size=101: must be an integer in [1, 100]");
}

TEST_F(FlagSetTest, OfAFlagGivenSeveralTimesTheLastValueIsUsedAndNamed) {
  ASSERT_EQ(ParseError({"--data=x", "--shuffle", "--batch_size", "7", "--data",
                        "y", "--batch_size=8", "--shuffle=false",
                        "--bad_rows=1", "--batch_size=9"}),
            "");
  EXPECT_EQ(data_, "y");
  EXPECT_EQ(batch_size_, 9);
  EXPECT_FALSE(shuffle_);
  EXPECT_EQ(set_.repeated(),
            "shoal test: --batch_size is given 3 times; the last value is "
            "used: --batch_size=9\n"
            "shoal test: --data is given twice; the last value is used: "
            "--data=y\n"
            "shoal test: --shuffle is given twice; the last value is used: "
            "--shuffle=false\n");
}

TEST_F(FlagSetTest, OnlyTheValueThatIsUsedIsChecked) {
  EXPECT_EQ(ParseError({"--data=x", "--batch_size=7", "--batch_size=none"}),
            "--batch_size=none: must be an integer in [1, 100]");
  EXPECT_EQ(batch_size_, 10);
}

TEST_F(FlagSetTest, ValuesThatAreNotUsedAreNotCheckedAndOneValueIsNotNamed) {
  ASSERT_EQ(ParseError({"--data=x", "--batch_size=7", "--batch_size=none",
                        "--batch_size=8"}),
            "");
  EXPECT_EQ(batch_size_, 8);
  FlagSet other("shoal other", "Tests flags.");
  std::string data;
  other.Add({"data", &data, "Where the data are."});
  ASSERT_TRUE(other.Parse({"--data=x"}).ok());
  EXPECT_EQ(other.repeated(), "");
}

TEST_F(FlagSetTest, ABooleanAloneIsOn) {
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"--shuffle", "--data=x"},
        std::vector<std::string>{"--data=x", "--shuffle"}}) {
    shuffle_ = false;
    EXPECT_EQ(ParseError(args), "");
    EXPECT_TRUE(shuffle_);
  }
}

TEST_F(FlagSetTest, DoesNotTakeAFlagForAValue) {
  EXPECT_EQ(ParseError({"--data", "--shuffle=true"}),
            "--data has no value; it takes TEXT");
  EXPECT_EQ(ParseError({"--data=", "--shuffle=true"}),
            "--data has no value; it takes TEXT");
  EXPECT_EQ(ParseError({"--shuffle=true", "--data"}),
            "--data has no value; it takes TEXT");
}

TEST_F(FlagSetTest, RefusesStrayArguments) {
  EXPECT_EQ(ParseError({"--data=x", "more"}),
            "shoal test takes only flags, not 'more'; see shoal test --help");
}

TEST_F(FlagSetTest, HelpWinsOverEverythingElse) {
  ASSERT_TRUE(set_.Parse({"--nonsense", "--help"}).ok());
  EXPECT_TRUE(set_.help_wanted());
}

TEST_F(FlagSetTest, HelpNamesGroupsKindsAndDefaultsIn80Columns) {
  const std::string help = set_.Help();
  EXPECT_THAT(help, HasSubstr("Usage: shoal test [--flag=value ...]"));
  EXPECT_THAT(help, HasSubstr("First:\n  --batch_size=INT  "));
  EXPECT_THAT(help, HasSubstr("Examples of a batch. [10]"));
  EXPECT_THAT(help, HasSubstr("Where the data are. Required."));
  EXPECT_THAT(help, HasSubstr("Second:\n  --shuffle=BOOL  "));
  size_t start = 0;
  for (size_t end; (end = help.find('\n', start)) != std::string::npos;
       start = end + 1) {
    EXPECT_LE(end - start, 80u) << help.substr(start, end - start);
  }
}

TEST_F(FlagSetTest, HelpLeavesHiddenFlagsOutAndTakesADefaultInWords) {
  int layers = 3;
  int depth = 4;
  Flag hidden = {"layers", &layers, "Layers."};
  hidden.hidden = true;
  set_.Add(hidden);
  Flag in_words = {"depth", &depth, "Depth."};
  in_words.default_value = "as before";
  set_.Add(in_words);
  EXPECT_EQ(set_.Help().find("layers"), std::string::npos);
  EXPECT_THAT(set_.Help(), HasSubstr("Depth. [as before]"));
  ASSERT_TRUE(set_.Parse({"--data=x", "--layers=5"}).ok());
  EXPECT_EQ(layers, 5);
  EXPECT_THAT(set_.Resolved(), HasSubstr("layers*=5 depth=4"));
}

TEST_F(FlagSetTest, AFlagThatDoesNotWorkYetIsTakenAndNotInHelp) {
  bool magic = false;
  Flag flag = {"magic", &magic, "Not there yet."};
  flag.hidden = true;
  set_.Add(flag);
  EXPECT_THAT(set_.Help(), Not(HasSubstr("magic")));
  EXPECT_THAT(set_.Resolved(), Not(HasSubstr("magic")));
  EXPECT_THAT(ParseError({"--magid=1"}), Not(HasSubstr("magic")));
  ASSERT_TRUE(set_.Parse({"--magic=true", "--data=x"}).ok());
  EXPECT_TRUE(magic);
  EXPECT_THAT(set_.Resolved(), HasSubstr("magic*=true"));
}

TEST_F(FlagSetTest, GivenFlagsAloneHaveATextToo) {
  ASSERT_TRUE(set_.Parse({"--shuffle", "--data=x"}).ok());
  EXPECT_THAT(
      set_.ResolvedGiven(),
      HasSubstr(":\n  First       data=x\n  Second      shuffle=true\n"));
  EXPECT_THAT(set_.ResolvedGiven(), Not(HasSubstr("batch_size")));
  EXPECT_EQ(set_.Given(), (std::vector<std::pair<std::string, std::string>>{
                              {"data", "x"}, {"shuffle", "true"}}));
}

TEST_F(FlagSetTest, AChoiceThatTakesTrueMayStandAlone) {
  int level = 0;
  constexpr Choice<int> kLevels[] = {{1, "true"}, {2, "all"}};
  set_.Add({"say", ChoiceTarget(&level, kLevels), "What to say."});
  ASSERT_TRUE(set_.Parse({"--say", "--data=x"}).ok());
  EXPECT_EQ(level, 1);
}

TEST_F(FlagSetTest, ResolvedMarksWhatWasGiven) {
  ASSERT_TRUE(set_.Parse({"--data=x"}).ok());
  EXPECT_THAT(set_.Resolved(), HasSubstr("First       batch_size=10 data*=x"));
  EXPECT_THAT(set_.Resolved(), HasSubstr("Second      shuffle=true"));
}

}  // namespace
}  // namespace shoal
