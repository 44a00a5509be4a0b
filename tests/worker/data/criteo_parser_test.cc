#include "worker/data/criteo_parser.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/philox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Line = CriteoParser::Line;

using Columns = std::vector<std::string>;

// A row's forty columns, all but the label missing.
Columns Blank(const std::string& label = "0") {
  Columns columns(1 + kCriteoFields);
  columns[0] = label;
  return columns;
}

std::string Join(const Columns& columns) {
  return absl::StrJoin(columns, "\t");
}

struct Parsed {
  Line kind;
  ExampleBatch examples;
  std::string reason;
};

Parsed ParseBy(CriteoParser* parser, const std::string& line) {
  Parsed parsed;
  // A copy of exactly its size, so that ASan sees a byte too many.
  const std::vector<char> bytes(line.begin(), line.end());
  parsed.kind = parser->Parse(absl::string_view(bytes.data(), bytes.size()),
                              &parsed.examples, &parsed.reason);
  return parsed;
}

Parsed Parse(const std::string& line, uint64_t feature_size = 1000) {
  CriteoParser parser(feature_size, kCriteoFields);
  return ParseBy(&parser, line);
}

FeatureId CategoryId(int k, const std::string& value, uint64_t feature_size) {
  Columns columns = Blank();
  columns[kCriteoIntegers + k] = value;
  const Parsed row = Parse(Join(columns), feature_size);
  EXPECT_EQ(row.kind, Line::kRow) << row.reason;
  return row.examples.ids[kCriteoIntegers + k - 1];
}

TEST(CriteoParserTest, EveryColumnKeepsItsPlaceMissingOrNot) {
  Columns columns = Blank("1");
  columns[2] = "1";
  columns[14] = "68fd1e64";
  for (const std::string& line : {Join(columns), Join(Blank("1"))}) {
    const Parsed row = Parse(line);
    ASSERT_EQ(row.kind, Line::kRow) << row.reason;
    EXPECT_THAT(row.examples.labels, ElementsAre(1));
    EXPECT_THAT(row.examples.offsets, ElementsAre(0, kCriteoFields));
    ASSERT_THAT(row.examples.ids, SizeIs(kCriteoFields));
    ASSERT_THAT(row.examples.values, SizeIs(kCriteoFields));
    for (int i = 0; i < kCriteoFields; ++i) {
      if (i < kCriteoIntegers) {
        EXPECT_EQ(row.examples.ids[i], static_cast<FeatureId>(i));
      } else {
        EXPECT_GE(row.examples.ids[i], FeatureId{kCriteoIntegers});
        EXPECT_LT(row.examples.ids[i], 1000u);
        EXPECT_EQ(row.examples.values[i], 1.0f);
      }
    }
  }
}

TEST(CriteoParserTest, IntegersBecomeSignedLogarithms) {
  const struct {
    const char* text;
    float value;  // of Python's math.log1p, rounded to float32
  } cases[] = {
      {"", 0},
      {"0", 0},
      {"-0", 0},
      {"1", 0.6931471824645996f},
      {"0001", 0.6931471824645996f},
      {"-1", -0.6931471824645996f},
      {"1382", 7.232010364532471f},
      {"-1382", -7.232010364532471f},
      {"999999999999999999", 41.446533203125f},
      {"-999999999999999999", -41.446533203125f},
  };
  for (const auto& c : cases) {
    for (int k = 1; k <= kCriteoIntegers; ++k) {
      Columns columns = Blank();
      columns[k] = c.text;
      const Parsed row = Parse(Join(columns));
      ASSERT_EQ(row.kind, Line::kRow) << row.reason;
      EXPECT_EQ(row.examples.values[k - 1], c.value) << c.text;
    }
  }
}

TEST(CriteoParserTest, SmallIntegersFromTheTableAreThoseOfTheFormula) {
  for (int64_t x = 1000; x < 1050; ++x) {
    Columns columns = Blank();
    columns[5] = absl::StrCat(x);
    EXPECT_EQ(Parse(Join(columns)).examples.values[4],
              static_cast<float>(std::log1p(static_cast<double>(x))));
  }
}

// Results of an implementation of the header's formula in Python.
TEST(CriteoParserTest, IdsOfCategoriesAreForEver) {
  const struct {
    uint64_t feature_size;
    std::vector<FeatureId> ids;
  } cases[] = {
      {0,
       {4934061638858532800u, 14581257928372961650u, 4077745367822956175u,
        11489545821810749866u, 16742031831521948604u, 16906594184321193765u}},
      {1000, {276, 793, 231, 627, 908, 917}},
      {14, {13, 13, 13, 13, 13, 13}},
      {1000000, {267485, 790454, 221065, 622854, 907588, 916509}},
  };
  for (const auto& c : cases) {
    const uint64_t n = c.feature_size;
    EXPECT_THAT((std::vector<FeatureId>{
                    CategoryId(1, "68fd1e64", n), CategoryId(1, "", n),
                    CategoryId(26, "", n), CategoryId(2, "68fd1e64", n),
                    CategoryId(26, "abc", n), CategoryId(3, "0123456789", n)}),
                ::testing::ElementsAreArray(c.ids))
        << n;
  }
}

TEST(CriteoParserTest, CategoriesSpreadEvenlyOverTheIds) {
  constexpr uint64_t kBuckets = 50;
  std::vector<int> count(kBuckets);
  for (int i = 0; i < 5000; ++i) {
    const FeatureId id = CategoryId(1 + i % kCriteoCategories,
                                    absl::StrCat(absl::Hex(i * 2654435761u)),
                                    kCriteoIntegers + kBuckets);
    ++count[id - kCriteoIntegers];
  }
  // 100 expected, deviation 10.
  EXPECT_THAT(count,
              Each(::testing::AllOf(::testing::Ge(50), ::testing::Le(150))));
}

TEST(CriteoParserTest, RowsAppend) {
  CriteoParser parser(0, kCriteoFields);
  ExampleBatch examples;
  std::string reason;
  for (const char* label : {"0", "1", "1"}) {
    ASSERT_EQ(parser.Parse(Join(Blank(label)), &examples, &reason), Line::kRow);
  }
  EXPECT_THAT(examples.labels, ElementsAre(0, 1, 1));
  EXPECT_THAT(examples.offsets, ElementsAre(0, 39, 78, 117));
  EXPECT_THAT(examples.ids, SizeIs(117));
}

TEST(CriteoParserTest, TakesTheLabelsOfThreeClasses) {
  CriteoParser parser(1000, kCriteoFields, /*any_label=*/false,
                      /*num_labels=*/3);
  for (const char* label : {"0", "1", "2"}) {
    const Parsed row = ParseBy(&parser, Join(Blank(label)));
    ASSERT_EQ(row.kind, Line::kRow) << row.reason;
    EXPECT_THAT(row.examples.labels, ElementsAre(label[0] - '0'));
  }
  for (const char* label : {"3", "02", "-1", "2.0", "256", "0001"}) {
    const Parsed row = ParseBy(&parser, Join(Blank(label)));
    EXPECT_EQ(row.kind, Line::kBad) << label;
    EXPECT_EQ(row.reason, absl::StrCat("label '", label,
                                       "' is not an integer in [0, 2]"));
  }
}

TEST(CriteoParserTest, ACarriageReturnIsNotPartOfTheLine) {
  Columns columns = Blank();
  columns.back() = "abc";
  EXPECT_EQ(Parse(Join(columns) + "\r").examples.ids,
            Parse(Join(columns)).examples.ids);
}

TEST(CriteoParserTest, EmptyLinesAreNoRows) {
  for (const char* line : {"", "\r"}) {
    const Parsed parsed = Parse(line);
    EXPECT_EQ(parsed.kind, Line::kNoRow);
    EXPECT_THAT(parsed.examples.labels, IsEmpty());
    EXPECT_THAT(parsed.reason, IsEmpty());
  }
}

Columns With(int column, const std::string& value) {
  Columns columns = Blank();
  columns[column] = value;
  return columns;
}

TEST(CriteoParserTest, BadRowsSayWhyAndAddNothing) {
  const Columns unlabelled(kCriteoFields, "1");
  Columns longer = Blank();
  longer.push_back("x");
  const struct {
    std::string line;
    const char* reason;
  } cases[] = {
      {Join(unlabelled),
       "the label is missing: 39 columns, 40 are needed (shoal infer takes "
       "such rows)"},
      {Join(longer), "41 columns, 40 are needed"},
      {"0", "1 column, 40 are needed (a label, 13 integers and 26 categories"},
      {"# comment", "1 column,"},
      {"0 1:1 2:1", "1 column,"},
      {Join(With(0, "2")), "label '2' is neither 0 nor 1"},
      {Join(With(0, "")), "the label is missing: the first column is empty"},
      {Join(With(0, "01")), "label '01'"},
      {Join(With(0, "1.0")), "label '1.0'"},
      {Join(With(0, "-1")), "label '-1'"},
      {Join(With(1, "x")), "I1 is 'x', which is not an integer of at most 18"},
      {Join(With(13, "1.5")), "I13 is '1.5'"},
      {Join(With(3, " 1")), "I3 is ' 1'"},
      {Join(With(3, "1 ")), "I3 is '1 '"},
      {Join(With(3, "+1")), "I3 is '+1'"},
      {Join(With(3, "-")), "I3 is '-'"},
      {Join(With(3, "1\r")), "I3 is '1\\r'"},
      {Join(With(3, "1234567890123456789")), "I3 is '1234567890123456789'"},
      {Join(With(3, "nan")), "I3 is 'nan'"},
      {Join(With(14, "ab\xff")),
       "C1 is 'ab\\xff', with a byte that is not printable ASCII"},
      {Join(With(39, std::string("a\0b", 3))), "C26 is 'a\\x00\\x62'"},
      {Join(With(39, "abcdefgh\x7f")), "C26 is 'abcdefgh\\x7f'"},
      {Join(With(20, "abc\rdefgh")), "C7 is 'abc\\rdefgh'"},
      {Join(With(20, std::string(65, 'a'))), "aaa...' of 65 bytes; at most 64"},
  };
  for (const auto& c : cases) {
    const Parsed parsed = Parse(c.line);
    EXPECT_EQ(parsed.kind, Line::kBad) << c.line;
    EXPECT_THAT(parsed.reason, HasSubstr(c.reason)) << c.line;
    EXPECT_THAT(parsed.examples.labels, IsEmpty()) << c.line;
    EXPECT_THAT(parsed.examples.ids, IsEmpty()) << c.line;
    EXPECT_THAT(parsed.examples.values, IsEmpty()) << c.line;
    EXPECT_THAT(parsed.examples.offsets, ElementsAre(0)) << c.line;
  }
}

TEST(CriteoParserTest, LabelsThatAreNotKnownMayBeEmptyOrLeftOut) {
  CriteoParser parser(1000, kCriteoFields, /*any_label=*/true);
  // The first integer may be missing, or look like a label.
  for (const char* first : {"", "0", "1", "-7"}) {
    Columns columns = With(1, first);
    columns[15] = "abc";
    const Parsed labelled = ParseBy(&parser, Join(columns));
    ASSERT_EQ(labelled.kind, Line::kRow) << labelled.reason;
    for (const std::string& line :
         {Join(columns).substr(1), Join(columns).substr(2),
          Join(columns).substr(2) + "\r"}) {
      const Parsed row = ParseBy(&parser, line);
      ASSERT_EQ(row.kind, Line::kRow) << row.reason;
      EXPECT_THAT(row.examples.labels, ElementsAre(0));
      EXPECT_EQ(row.examples.ids, labelled.examples.ids) << line;
      EXPECT_EQ(row.examples.values, labelled.examples.values) << line;
    }
  }
  EXPECT_THAT(ParseBy(&parser, Join(Blank("1"))).examples.labels,
              ElementsAre(1));
  EXPECT_EQ(ParseBy(&parser, Join(Blank()).substr(3)).kind, Line::kBad)
      << "38 columns";
  EXPECT_EQ(ParseBy(&parser, "\t" + Join(Blank())).kind, Line::kBad)
      << "41 column,";
  EXPECT_THAT(ParseBy(&parser, Join(With(0, "2"))).reason,
              HasSubstr("label '2' is neither 0 nor 1"));
  EXPECT_THAT(ParseBy(&parser, Join(With(3, "x")).substr(1)).reason,
              HasSubstr("I3 is 'x'"));
  EXPECT_THAT(ParseBy(&parser, Join(With(3, "x")).substr(2)).reason,
              HasSubstr("I3 is 'x'"));
}

TEST(CriteoParserTest, CategoriesOfUpTo64BytesAreGood) {
  for (const size_t bytes : {1u, 7u, 8u, 9u, 15u, 16u, 17u, 63u, 64u}) {
    CategoryId(26, std::string(bytes, '~'), 0);
    CategoryId(1, std::string(bytes, ' '), 0);
  }
}

TEST(CriteoParserTest, SizesThatCannotHoldARowAreRefused) {
  EXPECT_TRUE(CriteoParser::Validate(0, 39).ok());
  EXPECT_TRUE(CriteoParser::Validate(14, 50).ok());
  EXPECT_THAT(CriteoParser::Validate(0, 38).message(),
              HasSubstr("field_size is 38; raw Criteo rows have 39 fields"));
  EXPECT_THAT(CriteoParser::Validate(13, 39).message(),
              HasSubstr("feature_size is 13"));
}

// The same lines taken apart in the plainest way.
bool PlainlyGood(const std::string& line) {
  Columns columns = {""};
  for (const char c : line) {
    if (c == '\t') {
      columns.emplace_back();
    } else {
      columns.back() += c;
    }
  }
  if (columns.size() != 40) return false;
  if (columns[0] != "0" && columns[0] != "1") return false;
  for (int c = 1; c < 40; ++c) {
    std::string value = columns[c];
    if (c <= kCriteoIntegers) {
      const bool negative = !value.empty() && value[0] == '-';
      if (negative) value.erase(0, 1);
      if (negative && value.empty()) return false;
      if (value.size() > 18) return false;
      if (!std::all_of(value.begin(), value.end(),
                       [](char d) { return d >= '0' && d <= '9'; })) {
        return false;
      }
    } else if (value.size() > 64 ||
               !std::all_of(value.begin(), value.end(),
                            [](char d) { return d >= 32 && d < 127; })) {
      return false;
    }
  }
  return true;
}

// Rows with a few bytes changed: no crash, and good or bad as they should be.
TEST(CriteoParserTest, ChangedLinesKeepTheContract) {
  const Philox random(7);
  const std::string alphabet = "0123456789abcdef\t\t\t\t-. \x80\x01\x7f\x1f~";
  CriteoParser parser(1000, kCriteoFields);
  int rows = 0;
  int bad = 0;
  for (uint64_t i = 0; i < 20000; ++i) {
    Columns columns = Blank(i % 2 == 0 ? "0" : "1");
    for (int c = 1; c < 40; ++c) {
      const uint32_t draw = random(c, i)[0];
      if (draw % 4 == 0) continue;
      columns[c] = c <= kCriteoIntegers
                       ? absl::StrCat(static_cast<int>(draw >> (draw % 32)))
                       : absl::StrCat(absl::Hex(draw, absl::kZeroPad8));
      if (draw % 16 == 1) columns[c].resize(columns[c].size() / 2, '0');
      if (columns[c] == "-") columns[c].clear();
    }
    std::string line = Join(columns);
    for (uint32_t change = random(100, i)[0] % 3; change > 0; --change) {
      const uint32_t at = random(100 + change, i)[1] % line.size();
      line[at] = alphabet[random(100 + change, i)[2] % alphabet.size()];
    }
    if (i % 10 == 9) line.resize(random(100, i)[3] % line.size());
    if (line.empty() || line.back() == '\r') continue;
    const Parsed parsed = ParseBy(&parser, line);
    ASSERT_EQ(parsed.kind == Line::kRow, PlainlyGood(line)) << line;
    ASSERT_EQ(parsed.kind == Line::kBad, !parsed.reason.empty()) << line;
    ASSERT_EQ(parsed.examples.size(), parsed.kind == Line::kRow ? 1u : 0u);
    for (const FeatureId id : parsed.examples.ids) ASSERT_LT(id, 1000u);
    for (const float value : parsed.examples.values) {
      ASSERT_TRUE(std::isfinite(value));
    }
    ASSERT_THAT(parsed.reason,
                Each(::testing::AllOf(::testing::Ge(' '), ::testing::Le('~'))));
    (parsed.kind == Line::kRow ? rows : bad) += 1;
  }
  EXPECT_GT(rows, 4000) << "the generator no longer finds rows";
  EXPECT_GT(bad, 4000) << "the generator no longer finds bad rows";
}

}  // namespace
}  // namespace shoal
