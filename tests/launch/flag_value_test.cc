#include "launch/flag_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

TEST(ParseFlagValue, NamesFlagValueAndRange) {
  int value = 7;
  EXPECT_EQ(Message(ParseFlagValue("batch_size", "0", IntRange{1, 9}, &value)),
            "--batch_size=0: must be an integer in [1, 9]");
  EXPECT_EQ(Message(ParseFlagValue("k", "x", IntRange{1}, &value)),
            "--k=x: must be an integer of at least 1");
  EXPECT_EQ(value, 7) << "a refused value leaves the target alone";
}

TEST(ParseFlagValue, RefusesIntegersThatDoNotFit) {
  int small = 0;
  EXPECT_FALSE(ParseFlagValue("f", "2147483648", {}, &small).ok());
  EXPECT_FALSE(ParseFlagValue("f", "1.5", {}, &small).ok());
  uint64_t counted = 0;
  EXPECT_FALSE(ParseFlagValue("f", "-1", {}, &counted).ok());
  EXPECT_TRUE(ParseFlagValue("f", "4611686018427387904", {}, &counted).ok());
  EXPECT_EQ(counted, uint64_t{1} << 62);
}

TEST(ParseFlagValue, ReadsBytesWithUnits) {
  int64_t bytes = 0;
  ASSERT_TRUE(ParseFlagValue("b", "3KiB", ByteRange{}, &bytes).ok());
  EXPECT_EQ(bytes, 3072);
  ASSERT_TRUE(ParseFlagValue("b", "2GiB", ByteRange{}, &bytes).ok());
  EXPECT_EQ(bytes, int64_t{2} << 30);
  ASSERT_TRUE(ParseFlagValue("b", "-1", ByteRange{-1}, &bytes).ok());
  EXPECT_EQ(bytes, -1);
  EXPECT_FALSE(ParseFlagValue("b", "9007199254740993GiB", {}, &bytes).ok());
  EXPECT_FALSE(ParseFlagValue("b", "3 apples", ByteRange{}, &bytes).ok());
}

TEST(ParseFlagValue, RefusesNumbersThatAreNotFinite) {
  double value = 0;
  for (const char* text : {"nan", "inf", "-inf", "1e999", ""}) {
    EXPECT_FALSE(ParseFlagValue("f", text, {}, &value).ok()) << text;
  }
  EXPECT_FALSE(ParseFlagValue("f", "0", RealRange{0, 1, true}, &value).ok());
  EXPECT_TRUE(ParseFlagValue("f", "1", RealRange{0, 1, true}, &value).ok());
}

TEST(ParseFlagValue, ReadsBooleans) {
  bool value = false;
  ASSERT_TRUE(ParseFlagValue("f", "true", {}, &value).ok());
  EXPECT_TRUE(value);
  ASSERT_TRUE(ParseFlagValue("f", "False", {}, &value).ok());
  EXPECT_FALSE(value);
  EXPECT_EQ(Message(ParseFlagValue("f", "maybe", {}, &value)),
            "--f=maybe: must be true or false");
}

TEST(ParseFlagValue, ReadsTimesWithAndWithoutUnits) {
  absl::Duration value;
  ASSERT_TRUE(ParseFlagValue("f", "500ms", {}, &value).ok());
  EXPECT_EQ(value, absl::Milliseconds(500));
  ASSERT_TRUE(ParseFlagValue("f", "1.5", {}, &value).ok());
  EXPECT_EQ(value, absl::Milliseconds(1500));
  for (const char* text : {"inf", "-1s", "5 s", "soon"}) {
    EXPECT_FALSE(ParseFlagValue("f", text, DurationRange{}, &value).ok())
        << text;
  }
}

enum class Mode { kAsync, kSync, kRing };

constexpr Choice<Mode> kModes[] = {{Mode::kAsync, "async"},
                                   {Mode::kSync, "sync"}};

TEST(ParseFlagValue, KnowsChoicesInAnyCaseAndThoseOfLater) {
  Mode value = Mode::kSync;
  const ChoiceTarget target(&value, kModes);
  const NotThereYet later = {{"ring"}};
  EXPECT_EQ(PrintFlagValue(target, later), "sync");
  ASSERT_TRUE(ParseFlagValue("mode", "ASYNC", later, target).ok());
  EXPECT_EQ(value, Mode::kAsync);
  EXPECT_EQ(PrintFlagValue(target, later), "async");
  EXPECT_EQ(FlagValueKind(target, later), "async|sync");
  EXPECT_EQ(Message(ParseFlagValue("mode", "Ring", later, target)),
            "--mode=Ring is not there yet; this version has async, sync");
  EXPECT_EQ(Message(ParseFlagValue("mode", "fast", later, target)),
            "--mode=fast: must be one of async, sync");
  EXPECT_EQ(value, Mode::kAsync) << "a refused value leaves the target alone";
}

TEST(ParseFlagValue, AChoiceMayBeLeftOut) {
  std::optional<Mode> value;
  const ChoiceTarget target(&value, kModes);
  EXPECT_EQ(PrintFlagValue(target), "");
  EXPECT_EQ(Message(ParseFlagValue("mode", "", {}, target)),
            "--mode=: must be one of async, sync");
  EXPECT_FALSE(value.has_value());
  ASSERT_TRUE(ParseFlagValue("mode", "sync", {}, target).ok());
  EXPECT_EQ(value, Mode::kSync);
  EXPECT_EQ(PrintFlagValue(target), "sync");
}

TEST(ChoiceHelp, ExplainsEveryWordAndAutoLast) {
  constexpr static Choice<int> kWays[] = {{0, "auto", "takes the faster one"},
                                          {1, "slow", "multiplies"},
                                          {2, "fast"}};
  EXPECT_EQ(ChoiceHelp(kWays),
            "slow multiplies; fast; auto takes the faster one");
  constexpr static Choice<int> kOne[] = {{0, "one", "is all"}};
  EXPECT_EQ(ChoiceHelp(kOne), "one is all");
}

TEST(ParseFlagValue, OneWordIsNamedAlone) {
  constexpr static Choice<bool> kOn[] = {{true, "on"}};
  bool value = false;
  const ChoiceTarget target(&value, kOn);
  EXPECT_EQ(Message(ParseFlagValue("f", "off", {}, target)),
            "--f=off: must be on");
  EXPECT_EQ(PrintFlagValue(target), "") << "no word says false";
  ASSERT_TRUE(ParseFlagValue("f", "on", {}, target).ok());
  EXPECT_TRUE(value);
}

TEST(ParseFlagValue, ChecksEachEntryOfAList) {
  std::vector<int> layers = {1};
  ASSERT_TRUE(ParseFlagValue("d", "400,30,2", IntRange{1}, &layers).ok());
  EXPECT_THAT(layers, ElementsAre(400, 30, 2));
  EXPECT_THAT(Message(ParseFlagValue("d", "400,,2", IntRange{1}, &layers)),
              HasSubstr("in --d=400,,2: --d=: must be an integer"));
  EXPECT_THAT(layers, ElementsAre(400, 30, 2));
  ASSERT_TRUE(ParseFlagValue("d", "", IntRange{1}, &layers).ok());
  EXPECT_TRUE(layers.empty());
}

TEST(PrintFlagValue, IsReadBackExactly) {
  for (double value : {0.1, 5e-4, 1.0 / 3, 1e300, 0.0, 1e-08}) {
    double again = -1;
    const std::string text = PrintFlagValue(&value);
    ASSERT_TRUE(ParseFlagValue("f", text, {}, &again).ok()) << text;
    EXPECT_EQ(again, value) << text;
  }
  double rate = 5e-4;
  EXPECT_EQ(PrintFlagValue(&rate), "0.0005");
  absl::Duration time = absl::Milliseconds(1500);
  EXPECT_EQ(PrintFlagValue(&time), "1.5s");
  std::vector<double> keep = {0.5, 1};
  EXPECT_EQ(PrintFlagValue(&keep), "0.5,1");
  int64_t bytes = 256 << 20;
  EXPECT_EQ(PrintFlagValue(&bytes, ByteRange{}), "256MiB");
}

}  // namespace
}  // namespace shoal
