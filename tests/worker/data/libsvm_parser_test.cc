#include "worker/data/libsvm_parser.h"

#include <string>
#include <vector>

#include "base/philox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Line = LibSvmParser::Line;

constexpr uint64_t kFeatureSize = 1000;
constexpr int kFieldSize = 4;

struct Parsed {
  Line kind;
  ExampleBatch examples;
  std::string reason;
};

Parsed Parse(const std::string& line, uint64_t feature_size = kFeatureSize) {
  LibSvmParser parser(feature_size, kFieldSize);
  Parsed parsed;
  // A copy of exactly its size, so that ASan sees a byte too many.
  const std::vector<char> bytes(line.begin(), line.end());
  parsed.kind = parser.Parse(absl::string_view(bytes.data(), bytes.size()),
                             &parsed.examples, &parsed.reason);
  return parsed;
}

TEST(LibSvmParserTest, ReadsLabelIdsAndValuesInOrder) {
  const Parsed row = Parse("1 7:0.5 3:1 999:-2e1 0:0");
  ASSERT_EQ(row.kind, Line::kRow) << row.reason;
  EXPECT_THAT(row.examples.labels, ElementsAre(1));
  EXPECT_THAT(row.examples.ids, ElementsAre(7, 3, 999, 0));
  EXPECT_THAT(row.examples.values, ElementsAre(0.5f, 1.0f, -20.0f, 0.0f));
  EXPECT_THAT(row.examples.offsets, ElementsAre(0, 4));
}

TEST(LibSvmParserTest, RowsAppend) {
  LibSvmParser parser(kFeatureSize, kFieldSize);
  ExampleBatch examples;
  std::string reason;
  for (const char* line : {"0 1:1 2:2", "1", "1 5:3"}) {
    ASSERT_EQ(parser.Parse(line, &examples, &reason), Line::kRow) << reason;
  }
  EXPECT_THAT(examples.labels, ElementsAre(0, 1, 1));
  EXPECT_THAT(examples.offsets, ElementsAre(0, 2, 2, 3));
  EXPECT_THAT(examples.ids, ElementsAre(1, 2, 5));
}

TEST(LibSvmParserTest, OfRowsWithoutKnownLabelsAnyNumberWillDo) {
  LibSvmParser parser(kFeatureSize, kFieldSize, /*any_label=*/true);
  ExampleBatch rows;
  std::string reason;
  for (const char* line : {"7.5 1:1", "1 1:1", "-3 1:1"}) {
    EXPECT_EQ(parser.Parse(line, &rows, &reason), Line::kRow) << line;
  }
  EXPECT_THAT(rows.labels, ElementsAre(0, 1, 0));
  EXPECT_EQ(parser.Parse("? 1:1", &rows, &reason), Line::kBad);
  EXPECT_THAT(reason, HasSubstr("label '?' is not a number"));
}

TEST(LibSvmParserTest, LabelsThatAreNotKnownMayBeLeftOut) {
  LibSvmParser parser(kFeatureSize, kFieldSize, /*any_label=*/true);
  ExampleBatch rows;
  std::string reason;
  for (const char* line : {"1 7:2 3:1", "7:2 3:1", " 7:2\t3:1\r"}) {
    ASSERT_EQ(parser.Parse(line, &rows, &reason), Line::kRow) << reason;
  }
  EXPECT_THAT(rows.labels, ElementsAre(1, 0, 0));
  EXPECT_THAT(rows.ids, ElementsAre(7, 3, 7, 3, 7, 3));
  EXPECT_THAT(rows.values, ElementsAre(2, 1, 2, 1, 2, 1));
  EXPECT_EQ(parser.Parse("a:2 3:1", &rows, &reason), Line::kBad);
  EXPECT_EQ(reason, "'a:2' is not id:value");
  EXPECT_EQ(parser.Parse("1:1 2:1 3:1 4:1 5:1", &rows, &reason), Line::kBad);
  EXPECT_EQ(rows.size(), 3u);
}

TEST(LibSvmParserTest, TakesTheLabelsInUse) {
  for (const char* label : {"0", "-1", "0.0", "-1.0", "-0"}) {
    EXPECT_THAT(Parse(std::string(label) + " 1:1").examples.labels,
                ElementsAre(0))
        << label;
  }
  for (const char* label : {"1", "+1", "1.0", "1e0"}) {
    EXPECT_THAT(Parse(std::string(label) + " 1:1").examples.labels,
                ElementsAre(1))
        << label;
  }
}

TEST(LibSvmParserTest, TakesTheLabelsOfThreeClasses) {
  LibSvmParser parser(kFeatureSize, kFieldSize, /*any_label=*/false,
                      /*num_labels=*/3);
  ExampleBatch rows;
  std::string reason;
  for (const char* line : {"0 1:1", "1 1:1", "2 1:1", "2.0"}) {
    EXPECT_EQ(parser.Parse(line, &rows, &reason), Line::kRow) << reason;
  }
  EXPECT_THAT(rows.labels, ElementsAre(0, 1, 2, 2));
  for (const char* label : {"-1", "3", "1.5", "256", "1e30"}) {
    EXPECT_EQ(parser.Parse(label, &rows, &reason), Line::kBad) << label;
    EXPECT_EQ(reason, "label '" + std::string(label) +
                          "' is not an integer in [0, 2]");
  }
}

TEST(LibSvmParserTest, OfThreeClassesUnknownLabelsCountAsZero) {
  LibSvmParser parser(kFeatureSize, kFieldSize, /*any_label=*/true,
                      /*num_labels=*/3);
  ExampleBatch rows;
  std::string reason;
  for (const char* line : {"2", "3", "-1", "0.5"}) {
    EXPECT_EQ(parser.Parse(line, &rows, &reason), Line::kRow) << reason;
  }
  EXPECT_THAT(rows.labels, ElementsAre(2, 0, 0, 0));
}

TEST(LibSvmParserTest, TakesAsManyLabelsAsAByteHasBesideTheBadRow) {
  LibSvmParser parser(kFeatureSize, kFieldSize, /*any_label=*/false,
                      /*num_labels=*/255);
  ExampleBatch rows;
  std::string reason;
  EXPECT_EQ(parser.Parse("254 1:1", &rows, &reason), Line::kRow) << reason;
  EXPECT_THAT(rows.labels, ElementsAre(254));
  EXPECT_EQ(parser.Parse("255 1:1", &rows, &reason), Line::kBad);
}

TEST(LibSvmParserTest, AnIdMayOccurAgain) {
  EXPECT_THAT(Parse("0 5:1 5:2 5:1").examples.ids, ElementsAre(5, 5, 5));
}

TEST(LibSvmParserTest, BlanksAndCarriageReturnsDoNotCount) {
  for (const char* line :
       {"1 2:3 4:5\r", " 1\t2:3  4:5", "1 2:3 4:5 \t", "1 2:3 4:5 \r"}) {
    const Parsed row = Parse(line);
    ASSERT_EQ(row.kind, Line::kRow) << line << ": " << row.reason;
    EXPECT_THAT(row.examples.ids, ElementsAre(2, 4)) << line;
    EXPECT_THAT(row.examples.values, ElementsAre(3.0f, 5.0f)) << line;
  }
}

TEST(LibSvmParserTest, EmptyBlankAndCommentLinesAreNoRows) {
  for (const char* line : {"", "\r", " ", "\t \r", "#", "# 1 2:3", " #"}) {
    const Parsed parsed = Parse(line);
    EXPECT_EQ(parsed.kind, Line::kNoRow) << line;
    EXPECT_THAT(parsed.examples.labels, IsEmpty());
  }
}

TEST(LibSvmParserTest, BadRowsSayWhyAndAddNothing) {
  const struct {
    const char* line;
    const char* reason;
  } cases[] = {
      {"2 1:1", "label '2' is not one of 0, 1, -1"},
      {"0.5 1:1", "label '0.5'"},
      {"1x 1:1", "label '1x'"},
      {"nan 1:1", "label 'nan'"},
      {"1:1 2:1",
       "the label is missing: the row begins with a feature (shoal infer takes "
       "such rows)"},
      {"1 2", "'2' is not id:value"},
      {"1 2 3:1", "'2' is not id:value"},
      {"1 :1", "':1' is not id:value"},
      {"1 a:1", "'a:1' is not id:value"},
      {"1 -2:1", "'-2:1' is not id:value"},
      {"1 1.5:1", "'1.5:1' is not id:value"},
      {"1 0x3:1", "'0x3:1' is not id:value"},
      {"1 # 2:1", "'#' is not id:value"},
      {"1 1000:1", "id of '1000:1' is not below --feature_size=1000"},
      {"1 18446744073709551617:1", "is not below --feature_size"},
      {"1 00000000000000000001:1", "is not below --feature_size"},
      {"1 2:", "value of '2:' is not a finite number"},
      {"1 2: 3:1", "value of '2:'"},
      {"1 2:x", "value of '2:x'"},
      {"1 2:1x", "value of '2:1x'"},
      {"1 2:1:1", "value of '2:1:1'"},
      {"1 2:nan", "value of '2:nan'"},
      {"1 2:inf", "value of '2:inf'"},
      {"1 2:1e39", "value of '2:1e39'"},
      {"1 2:1e", "value of '2:1e'"},
      {"1 1:1 2:1 3:1 4:1 5:1", "more than 4 features"},
      {"1 2:1\xff\x01", "value of '2:1\\xff\\x01'"},
      {"1 2:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "aaa...'"},
  };
  for (const auto& c : cases) {
    const Parsed parsed = Parse(c.line);
    EXPECT_EQ(parsed.kind, Line::kBad) << c.line;
    EXPECT_THAT(parsed.reason, HasSubstr(c.reason)) << c.line;
    EXPECT_THAT(parsed.examples.labels, IsEmpty()) << c.line;
    EXPECT_THAT(parsed.examples.ids, IsEmpty()) << c.line;
    EXPECT_THAT(parsed.examples.offsets, ElementsAre(0)) << c.line;
  }
}

TEST(LibSvmParserTest, ZeroBytesAreBadBytes) {
  EXPECT_EQ(Parse(std::string("1 2:1\0", 6)).kind, Line::kBad);
  EXPECT_EQ(Parse(std::string("\0", 1)).kind, Line::kBad);
}

TEST(LibSvmParserTest, WithoutAFeatureSizeAnIdIsAnyNumberOf64Bits) {
  const Parsed row = Parse(
      "1 0:1 9999999999999999999:1 18446744073709551615:1 "
      "000000000000000000000007:1",
      /*feature_size=*/0);
  ASSERT_EQ(row.kind, Line::kRow) << row.reason;
  EXPECT_THAT(row.examples.ids,
              ElementsAre(0, 9999999999999999999u, 18446744073709551615u, 7));
  for (const char* id : {"18446744073709551616", "99999999999999999999",
                         "118446744073709551615"}) {
    const Parsed bad = Parse(std::string("1 ") + id + ":1", 0);
    EXPECT_EQ(bad.kind, Line::kBad) << id;
    EXPECT_THAT(bad.reason, HasSubstr("is not below 2^64"));
  }
}

TEST(LibSvmParserTest, LargestIdsFit) {
  const Parsed row = Parse("1 281474976710655:1", uint64_t{1} << 48);
  ASSERT_EQ(row.kind, Line::kRow) << row.reason;
  EXPECT_THAT(row.examples.ids, ElementsAre((uint64_t{1} << 48) - 1));
}

// Any bytes: no crash, and what is taken for a row keeps the contract.
TEST(LibSvmParserTest, RandomLinesKeepTheContract) {
  const Philox random(11);
  const std::string alphabet = "0123456789    ::::..-+eE\t\r#x\xff";
  int rows = 0;
  for (uint64_t i = 0; i < 200000; ++i) {
    std::string line;
    if (i % 3 != 0) line = "1 1:";  // near a row
    const uint32_t length = random(0, i)[0] % 28;
    for (uint32_t k = 0; k < length; ++k) {
      line += i % 5 == 0 ? static_cast<char>(random(i, k)[1])
                         : alphabet[random(i, k)[0] % alphabet.size()];
    }
    const Parsed parsed = Parse(line);
    ASSERT_EQ(parsed.kind == Line::kBad, !parsed.reason.empty()) << line;
    ASSERT_EQ(parsed.examples.size(), parsed.kind == Line::kRow ? 1u : 0u);
    ASSERT_EQ(parsed.examples.ids.size(), parsed.examples.values.size());
    ASSERT_EQ(parsed.examples.offsets.back(), parsed.examples.ids.size());
    ASSERT_LE(parsed.examples.ids.size(), size_t{kFieldSize});
    for (const FeatureId id : parsed.examples.ids) ASSERT_LT(id, kFeatureSize);
    rows += parsed.kind == Line::kRow;
  }
  EXPECT_GT(rows, 500) << "the generator no longer finds rows";
}

}  // namespace
}  // namespace shoal
