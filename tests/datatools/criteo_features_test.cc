#include "datatools/criteo_features.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/crc32c.h"
#include "base/record_framing.h"
#include "datatools/criteo_fit.h"
#include "datatools/tfrecord_writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/data/libsvm_parser.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

// A line's columns by their places, 1 ... 39; the others are missing.
using Given = std::vector<std::pair<int, std::string>>;

std::string Line(const std::string& label, const Given& given) {
  std::vector<std::string> columns(1 + kCriteoFields);
  columns[0] = label;
  for (const auto& [column, value] : given) columns[column] = value;
  return absl::StrJoin(columns, "\t");
}

// The row is of views: it lives as long as the line does.
CriteoRow Row(const std::string& line) {
  CriteoRow row;
  std::string reason;
  EXPECT_EQ(ParseCriteoRow(line, &row, &reason), CriteoLine::kRow) << reason;
  return row;
}

CriteoFeatures Fit(const std::vector<std::string>& lines, uint64_t cutoff) {
  CriteoFit fit(1000);
  for (const std::string& line : lines) {
    EXPECT_TRUE(fit.Add(Row(line)).ok());
  }
  auto features = fit.Finish(cutoff);
  EXPECT_TRUE(features.ok()) << features.status();
  return *std::move(features);
}

// The example as LibSVM text, of columns I1 ... I13 and C1 ... C26.
std::vector<std::string> Encode(const CriteoFeatures& features,
                                const std::string& line) {
  std::string text;
  features.AppendLibSvm(Row(line), &text);
  EXPECT_EQ(text.back(), '\n');
  text.pop_back();
  return absl::StrSplit(text, ' ');
}

// Four rows. I1: 4, 10, missing, 25, which counts as 20. I2: -2 alone. C1: bb
// three times, aa once. C2: aa and bb twice each. C3: x once. C26: a long one.
const std::string kLong = "a category of 23 bytes!";
const std::vector<std::string>& Lines() {
  static const auto* const lines = new std::vector<std::string>{
      Line("1", {{1, "4"}, {2, "-2"}, {14, "bb"}, {15, "bb"}, {39, kLong}}),
      Line("0", {{1, "10"}, {14, "bb"}, {15, "aa"}, {16, "x"}}),
      Line("0", {{14, "aa"}, {15, "aa"}, {39, kLong}}),
      Line("1", {{1, "25"}, {14, "bb"}, {15, "bb"}}),
  };
  return *lines;
}

// Ids with cutoff 2. C1: 13 unknown, 14 bb. C2: 15 unknown, 16 aa, 17 bb (as
// often, so by name). C3: 18. C4 ... C25: 19 ... 40. C26: 41 unknown, 42.
TEST(CriteoFeaturesTest, NumbersWhatIsFrequentEnough) {
  const CriteoFeatures features = Fit(Lines(), 2);
  EXPECT_EQ(features.feature_size(), 43u);
  const std::vector<std::string> row = Encode(features, Lines()[1]);
  ASSERT_EQ(row.size(), 1u + kCriteoFields);
  EXPECT_EQ(row[0], "0");
  EXPECT_EQ(row[1], "1:0.375");  // (10 - 4) / (20 - 4)
  EXPECT_EQ(row[2], "2:0");
  EXPECT_EQ(row[13], "13:0");
  EXPECT_EQ(row[14], "14:1");
  EXPECT_EQ(row[15], "16:1");
  EXPECT_EQ(row[16], "18:1");  // x is too rare
  EXPECT_EQ(row[17], "19:1");
  EXPECT_EQ(row[38], "40:1");
  EXPECT_EQ(row[39], "41:1");  // missing
  EXPECT_EQ(Encode(features, Lines()[0])[15], "17:1");
  EXPECT_EQ(Encode(features, Lines()[0])[39], "42:1");
  EXPECT_EQ(Encode(features, Lines()[2])[14], "13:1");  // aa is too rare in C1
}

TEST(CriteoFeaturesTest, ACutoffOfOneKeepsAllInOrderOfCountThenBytes) {
  const CriteoFeatures features = Fit(Lines(), 1);
  EXPECT_EQ(features.feature_size(), 45u);
  EXPECT_EQ(Encode(features, Lines()[0])[14], "14:1");  // bb, three times
  EXPECT_EQ(Encode(features, Lines()[2])[14], "15:1");  // aa, once
  EXPECT_EQ(Encode(features, Lines()[1])[16], "20:1");  // x
}

TEST(CriteoFeaturesTest, ClippingIsForFittingAlone) {
  const CriteoFeatures features = Fit(Lines(), 2);
  EXPECT_EQ(Encode(features, Line("0", {{1, "25"}}))[1], "1:1.3125");
  EXPECT_EQ(Encode(features, Line("0", {{1, "20"}}))[1], "1:1");
  EXPECT_EQ(Encode(features, Line("0", {{1, "-4"}}))[1], "1:-0.5");
  EXPECT_EQ(Encode(features, Line("0", {{1, "5"}}))[1], "1:0.0625");
  EXPECT_EQ(Encode(features, Line("0", {{1, "999999999999999999"}}))[1],
            "1:62500000000000000");
}

TEST(CriteoFeaturesTest, AColumnOfOneValueOrNoneIsZero) {
  const CriteoFeatures features = Fit(Lines(), 2);
  EXPECT_EQ(Encode(features, Line("0", {{2, "7"}}))[2], "2:0");
  EXPECT_EQ(Encode(features, Line("0", {{3, "7"}}))[3], "3:0");
}

TEST(CriteoFeaturesTest, TheOrderOfRowsDoesNotMatter) {
  const std::vector<std::string> backwards(Lines().rbegin(), Lines().rend());
  EXPECT_EQ(Fit(Lines(), 1).ToText(), Fit(backwards, 1).ToText());
}

TEST(CriteoFeaturesTest, TfRecordHoldsTheFloatsOfTheText) {
  const CriteoFeatures features = Fit(Lines(), 2);
  LibSvmParser parser(features.feature_size(), kCriteoFields);
  for (const char* i1 : {"", "4", "5", "7", "11", "123456789", "-3"}) {
    const std::string line = Line("1", {{1, i1}, {15, "bb"}});
    std::string text, records, reason;
    features.AppendLibSvm(Row(line), &text);
    text.pop_back();
    ExampleBatch row;
    ASSERT_EQ(parser.Parse(text, &row, &reason), LibSvmParser::Line::kRow)
        << reason;
    std::string payload, expected;
    AppendTfExample(row.labels[0], row.ids, row.values, &payload);
    AppendRecord(payload, &expected);
    features.AppendTfRecord(Row(line), &records);
    EXPECT_EQ(records, expected) << text;
  }
}

TEST(CriteoFeaturesTest, TooManyDistinctCategoriesAreAnError) {
  CriteoFit fit(3);
  const std::string one = Line("0", {{14, "a"}, {15, "a"}});
  const std::string two = Line("0", {{14, "b"}, {39, kLong}});
  EXPECT_TRUE(fit.Add(Row(one)).ok());
  EXPECT_TRUE(fit.Add(Row(one)).ok());
  EXPECT_EQ(fit.values(), 2u);
  const absl::Status status = fit.Add(Row(two));
  EXPECT_EQ(status.code(), Code::kResourceExhausted);
  EXPECT_THAT(status.message(),
              HasSubstr("the first 3 rows have more than 3 distinct"));
}

TEST(CriteoFeaturesTest, TextIsAsDocumented) {
  const std::vector<std::string> lines =
      absl::StrSplit(Fit(Lines(), 2).ToText(), '\n');
  ASSERT_EQ(lines.size(), 5u + 13 + 26 + 4 + 2);
  EXPECT_THAT(std::vector<std::string>(lines.begin(), lines.begin() + 8),
              ElementsAre("shoal-criteo-features\t1", "rows\t4", "cutoff\t2",
                          "feature_size\t43", "field_size\t39", "I1\t1\t4\t20",
                          "I2\t2\t-2\t-2", "I3\t3\t-\t-"));
  EXPECT_THAT(std::vector<std::string>(lines.begin() + 18, lines.begin() + 24),
              ElementsAre("C1\t13\t1", "bb\t3", "C2\t15\t2", "aa\t2", "bb\t2",
                          "C3\t18\t0"));
  EXPECT_EQ(lines[47], kLong + "\t2");
  EXPECT_THAT(lines[48], ::testing::MatchesRegex("end\t[0-9a-f]{8}"));
  EXPECT_EQ(lines[49], "");
}

TEST(CriteoFeaturesTest, TextGivesTheSameEncodingBack) {
  const CriteoFeatures features = Fit(Lines(), 1);
  const auto back = CriteoFeatures::FromText(features.ToText());
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->feature_size(), features.feature_size());
  EXPECT_EQ(back->ToText(), features.ToText());
  for (const std::string& line : Lines()) {
    EXPECT_EQ(Encode(*back, line), Encode(features, line));
  }
}

TEST(CriteoFeaturesTest, EveryCutOfTheTextIsFound) {
  const std::string text = Fit(Lines(), 1).ToText();
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(CriteoFeatures::FromText(text.substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(CriteoFeatures::FromText(text + "x").ok());
}

TEST(CriteoFeaturesTest, EveryChangedByteOfTheTextIsFound) {
  std::string text = Fit(Lines(), 1).ToText();
  for (size_t at = 0; at + 1 < text.size(); ++at) {
    for (const char change : {0x01, 0x10, 0x7f}) {
      text[at] ^= change;
      EXPECT_FALSE(CriteoFeatures::FromText(text).ok()) << at;
      text[at] ^= change;
    }
  }
  EXPECT_TRUE(CriteoFeatures::FromText(text).ok());
}

// The text with a change and a checksum that holds.
absl::Status Changed(const std::string& from, const std::string& to) {
  std::string text = Fit(Lines(), 1).ToText();
  text.resize(text.rfind("end\t"));
  const std::string changed = absl::StrReplaceAll(text, {{from, to}});
  EXPECT_NE(text, changed);
  return CriteoFeatures::FromText(
             changed + absl::StrFormat("end\t%08x\n", Crc32c(changed)))
      .status();
}

TEST(CriteoFeaturesTest, TextThatContradictsItselfIsRefused) {
  const struct {
    const char* from;
    const char* to;
    const char* message;
  } cases[] = {
      {"features\t1\n", "features\t2\n",
       "line 1: shoal-criteo-features is 2; it must be 1"},
      {"rows\t4", "rows\tx", "line 2: 'x' is not a number"},
      {"field_size\t39", "field_size\t38", "it must be 39"},
      {"feature_size\t45", "feature_size\t46", "feature_size is 46"},
      {"I1\t1\t", "I1\t2\t", "line 6: its id is wrong"},
      {"4\t20", "20\t4", "I1: the range from 20 to 4 is not valid"},
      {"-2\t-2", "-2\t9223372036854775807", "I2: the range"},
      {"C2\t16", "C2\t17", "its first id is wrong"},
      {"C1\t13\t2", "C1\t13\t1", "was expected"},
      {"C1\t13\t2", "C1\t13\t3", "was expected"},
      {"C1\t13\t2", "C1\t13\t18446744073709551615", "text is too short"},
      {"\naa\t1\n", "\nbb\t1\n", "C1: 'bb' is there twice"},
      {"\naa\t1\n", "\n\t1\n", "'' is not a category"},
      {"\naa\t1\n", "\na\x01\t1\n", "'a\\x01' is not a category"},
  };
  for (const auto& c : cases) {
    const absl::Status status = Changed(c.from, c.to);
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << c.from << c.to;
    EXPECT_THAT(status.message(), HasSubstr(c.message));
  }
}

}  // namespace
}  // namespace shoal
