#include "worker/data/libffm_parser.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/philox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/data/libsvm_parser.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Line = LibFfmParser::Line;

constexpr uint64_t kFeatureSize = 1000;
constexpr int kFieldSize = 4;

struct Parsed {
  Line kind;
  ExampleBatch examples;
  std::string reason;
};

Parsed Parse(const std::string& line, uint64_t feature_size = kFeatureSize,
             bool any_label = false) {
  LibFfmParser parser(feature_size, kFieldSize, any_label);
  Parsed parsed;
  // A copy of exactly its size, so that ASan sees a byte too many.
  const std::vector<char> bytes(line.begin(), line.end());
  parsed.kind = parser.Parse(absl::string_view(bytes.data(), bytes.size()),
                             &parsed.examples, &parsed.reason);
  return parsed;
}

TEST(LibFfmParserTest, ReadsFieldsInAnyOrderAndWithGaps) {
  const Parsed row = Parse("1 3:7:0.5 0:3:1 1:7:-2e1");
  ASSERT_EQ(row.kind, Line::kRow) << row.reason;
  EXPECT_THAT(row.examples.labels, ElementsAre(1));
  EXPECT_THAT(row.examples.fields, ElementsAre(3, 0, 1));
  EXPECT_THAT(row.examples.ids, ElementsAre(7, 3, 7));
  EXPECT_THAT(row.examples.values, ElementsAre(0.5f, 1.0f, -20.0f));
  EXPECT_THAT(row.examples.offsets, ElementsAre(0, 3));
}

TEST(LibFfmParserTest, RowsAppendAndABadRowBetweenThemLeavesNothing) {
  LibFfmParser parser(kFeatureSize, kFieldSize);
  ExampleBatch examples;
  std::string reason;
  ASSERT_EQ(parser.Parse("0 1:1:1 2:2:2", &examples, &reason), Line::kRow);
  ASSERT_EQ(parser.Parse("0 1:1:1 3:x:2", &examples, &reason), Line::kBad);
  ASSERT_EQ(parser.Parse("1", &examples, &reason), Line::kRow);
  // The fields of other rows are not those of this one.
  ASSERT_EQ(parser.Parse("1 3:5:3 1:5:3", &examples, &reason), Line::kRow);
  EXPECT_THAT(examples.labels, ElementsAre(0, 1, 1));
  EXPECT_THAT(examples.offsets, ElementsAre(0, 2, 2, 4));
  EXPECT_THAT(examples.ids, ElementsAre(1, 2, 5, 5));
  EXPECT_THAT(examples.fields, ElementsAre(1, 2, 3, 1));
}

TEST(LibFfmParserTest, LabelsThatAreNotKnownMayBeLeftOut) {
  for (const char* line : {"1:7:2 0:3:1", "7.5 1:7:2 0:3:1"}) {
    const Parsed row = Parse(line, kFeatureSize, /*any_label=*/true);
    ASSERT_EQ(row.kind, Line::kRow) << row.reason;
    EXPECT_THAT(row.examples.labels, ElementsAre(0));
    EXPECT_THAT(row.examples.ids, ElementsAre(7, 3));
    EXPECT_THAT(row.examples.fields, ElementsAre(1, 0));
  }
  EXPECT_THAT(Parse("? 1:7:2", kFeatureSize, true).reason,
              HasSubstr("label '?' is not a number"));
}

TEST(LibFfmParserTest, EmptyBlankAndCommentLinesAreNoRows) {
  for (const char* line : {"", "\r", " ", "\t \r", "#", "# 1 0:2:3", " #"}) {
    const Parsed parsed = Parse(line);
    EXPECT_EQ(parsed.kind, Line::kNoRow) << line;
    EXPECT_THAT(parsed.examples.labels, IsEmpty());
  }
}

TEST(LibFfmParserTest, BlanksAndCarriageReturnsDoNotCount) {
  for (const char* line : {"1 0:2:3 2:4:5\r", " 1\t0:2:3  2:4:5",
                           "1 0:2:3 2:4:5 \t", "1 00:2:3 002:4:5"}) {
    const Parsed row = Parse(line);
    ASSERT_EQ(row.kind, Line::kRow) << line << ": " << row.reason;
    EXPECT_THAT(row.examples.ids, ElementsAre(2, 4)) << line;
    EXPECT_THAT(row.examples.fields, ElementsAre(0, 2)) << line;
  }
}

TEST(LibFfmParserTest, BadRowsSayWhyAndAddNothing) {
  const struct {
    const char* line;
    const char* reason;
  } cases[] = {
      {"2 1:1:1", "label '2' is not one of 0, 1, -1"},
      {"1:1:1 2:1:1",
       "the label is missing: the row begins with a feature (shoal infer takes "
       "such rows)"},
      {"1 2:1", "'2:1' is not field:id:value"},
      {"1 2", "'2' is not field:id:value"},
      {"1 0:1:1 x", "'x' is not field:id:value"},
      {"1 :1:1", "':1:1' is not field:id:value"},
      {"1 0::1", "'0::1' is not field:id:value"},
      {"1 -1:1:1", "'-1:1:1' is not field:id:value"},
      {"1 1:a:1", "'1:a:1' is not field:id:value"},
      {"1 4:1:1", "field of '4:1:1' is not below --field_size=4"},
      {"1 65537:1:1", "field of '65537:1:1' is not below --field_size=4"},
      {"1 18446744073709551617:1:1", "is not below --field_size=4"},
      {"1 2:1:1 2:3:1", "'2:3:1' is a second value of field 2"},
      {"1 2:1:1 0:1:1 2:1:1", "'2:1:1' is a second value of field 2"},
      {"1 0:1000:1", "id of '0:1000:1' is not below --feature_size=1000"},
      {"1 0:18446744073709551617:1", "is not below --feature_size=1000"},
      {"1 0:2:", "value of '0:2:' is not a finite number"},
      {"1 0:2:1x", "value of '0:2:1x' is not a finite number"},
      {"1 0:2:1:1", "value of '0:2:1:1' is not a finite number"},
      {"1 0:2:nan", "value of '0:2:nan'"},
      {"1 0:2:1e39", "value of '0:2:1e39'"},
      {"1 0:2:1\xff\x01", "value of '0:2:1\\xff\\x01'"},
  };
  for (const auto& c : cases) {
    const Parsed parsed = Parse(c.line);
    EXPECT_EQ(parsed.kind, Line::kBad) << c.line;
    EXPECT_THAT(parsed.reason, HasSubstr(c.reason)) << c.line;
    EXPECT_THAT(parsed.examples.labels, IsEmpty()) << c.line;
    EXPECT_THAT(parsed.examples.ids, IsEmpty()) << c.line;
    EXPECT_THAT(parsed.examples.fields, IsEmpty()) << c.line;
    EXPECT_THAT(parsed.examples.offsets, ElementsAre(0)) << c.line;
  }
}

TEST(LibFfmParserTest, WithoutFeatureSizeAllIdsBelow2To64AreGood) {
  const Parsed row = Parse("1 0:18446744073709551615:1", 0);
  ASSERT_EQ(row.kind, Line::kRow) << row.reason;
  EXPECT_THAT(row.examples.ids, ElementsAre(UINT64_MAX));
  EXPECT_THAT(Parse("1 0:18446744073709551616:1", 0).reason,
              HasSubstr("id of '0:18446744073709551616:1' is not below 2^64"));
}

// Any bytes: no crash, and what is taken for a row keeps the contract, and is a
// row of LibSVM without its fields.
TEST(LibFfmParserTest, RandomLinesKeepTheContract) {
  const Philox random(12);
  const std::string alphabet = "0123456789    ::::::..-+eE\t\r#x\xff";
  int rows = 0;
  for (uint64_t i = 0; i < 200000; ++i) {
    std::string line;
    if (i % 3 != 0) line = "1 1:5:";  // near a row
    const uint32_t length = random(0, i)[0] % 28;
    for (uint32_t k = 0; k < length; ++k) {
      line += i % 5 == 0 ? static_cast<char>(random(i, k)[1])
                         : alphabet[random(i, k)[0] % alphabet.size()];
    }
    const Parsed parsed = Parse(line);
    ASSERT_EQ(parsed.kind == Line::kBad, !parsed.reason.empty()) << line;
    ASSERT_EQ(parsed.examples.size(), parsed.kind == Line::kRow ? 1u : 0u);
    const std::vector<FeatureId>& ids = parsed.examples.ids;
    ASSERT_EQ(ids.size(), parsed.examples.values.size());
    ASSERT_EQ(ids.size(), parsed.examples.fields.size());
    ASSERT_EQ(parsed.examples.offsets.back(), ids.size());
    for (const FeatureId id : ids) ASSERT_LT(id, kFeatureSize);
    std::vector<uint16_t> fields = parsed.examples.fields;
    std::sort(fields.begin(), fields.end());
    ASSERT_EQ(std::unique(fields.begin(), fields.end()), fields.end()) << line;
    if (!fields.empty()) {
      ASSERT_LT(fields.back(), kFieldSize) << line;
    }
    rows += parsed.kind == Line::kRow;
  }
  EXPECT_GT(rows, 500) << "the generator no longer finds rows";
}

TEST(LibFfmParserTest, LabelsIdsAndValuesAreThoseOfLibSvm) {
  const Philox random(13);
  const std::string words[] = {"0",   "1",    "00",   "999",  "1000", "1.5",
                               "-2",  "1e3",  "1e39", ".5",   "+7",   "x",
                               "nan", "0001", "1e",   "5.",   "-0"};
  LibSvmParser libsvm(kFeatureSize, kFieldSize);
  int rows = 0;
  for (uint64_t i = 0; i < 20000; ++i) {
    const auto draw = random(0, i);
    const std::string id = words[draw[0] % 17];
    const std::string value = words[draw[1] % 17];
    const Parsed parsed = Parse("1 2:" + id + ":" + value);
    ExampleBatch expected;
    std::string reason;
    const bool row = libsvm.Parse("1 " + id + ":" + value, &expected,
                                  &reason) == LibSvmParser::Line::kRow;
    ASSERT_EQ(parsed.kind == Line::kRow, row) << id << ":" << value;
    ASSERT_EQ(parsed.examples.ids, expected.ids);
    ASSERT_EQ(parsed.examples.values, expected.values);
    rows += row;
  }
  EXPECT_GT(rows, 500);
}

}  // namespace
}  // namespace shoal
