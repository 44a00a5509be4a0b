#include "worker/data/tf_example_parser.h"

#include <limits>
#include <string>
#include <vector>

#include "base/philox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/data/encoded_data.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Result = RecordParser::Result;

constexpr uint64_t kFeatures = 1000;
constexpr int kFieldCount = 4;

// The row of `example`, or why it is bad.
struct Parsed {
  ExampleBatch row;
  std::string reason;
};

Parsed Parse(const std::string& example, uint64_t feature_size = kFeatures) {
  TfExampleParser parser(feature_size, kFieldCount);
  Parsed parsed;
  const Result result = parser.Parse(example, &parsed.row, &parsed.reason);
  EXPECT_NE(result, Result::kNoRow);
  EXPECT_EQ(result == Result::kRow, parsed.reason.empty()) << parsed.reason;
  EXPECT_EQ(parsed.row.size(), result == Result::kRow ? 1u : 0u);
  EXPECT_EQ(parsed.row.ids.size(), parsed.row.values.size());
  EXPECT_EQ(parsed.row.offsets.size(), parsed.row.size() + 1);
  return parsed;
}

std::string Reason(const std::string& example) { return Parse(example).reason; }

TEST(TfExampleParserTest, ReadsPackedAndUnpackedListsInAnyOrderOfKeys) {
  for (const bool packed : {true, false}) {
    const std::vector<std::pair<std::string, std::string>> features = {
        {"label", FloatFeature({1}, packed)},
        {"ids", IntFeature({7, 999, 7}, packed)},
        {"values", FloatFeature({0.5f, -2, 0}, packed)},
        {"other", WireBytes(1, WireBytes(1, "bytes that no reader needs"))}};
    for (size_t first = 0; first < features.size(); ++first) {
      auto rotated = features;
      std::rotate(rotated.begin(), rotated.begin() + first, rotated.end());
      const Parsed parsed = Parse(TfExample(rotated));
      EXPECT_THAT(parsed.row.labels, ElementsAre(1));
      EXPECT_THAT(parsed.row.ids, ElementsAre(7, 999, 7));
      EXPECT_THAT(parsed.row.values, ElementsAre(0.5f, -2, 0));
    }
  }
}

TEST(TfExampleParserTest, LabelsAreFloatOrInt64) {
  const auto label = [](const std::string& feature) {
    const Parsed parsed =
        Parse(TfExample({{"label", feature}, {"ids", IntFeature({1})}}));
    return parsed.reason.empty() ? std::to_string(parsed.row.labels[0])
                                 : parsed.reason;
  };
  EXPECT_EQ(label(FloatFeature({0})), "0");
  EXPECT_EQ(label(FloatFeature({1})), "1");
  EXPECT_EQ(label(FloatFeature({-1})), "0");
  EXPECT_EQ(label(IntFeature({0})), "0");
  EXPECT_EQ(label(IntFeature({1})), "1");
  EXPECT_EQ(label(IntFeature({-1}, false)), "0");
  EXPECT_EQ(label(FloatFeature({2})), "label 2 is not one of 0, 1, -1");
  EXPECT_EQ(label(IntFeature({2})), "label 2 is not one of 0, 1, -1");
  EXPECT_EQ(label(FloatFeature({std::numeric_limits<float>::quiet_NaN()})),
            "label nan is not one of 0, 1, -1");
  EXPECT_EQ(label(FloatFeature({1, 0})), "feature 'label' has 2 values, not 1");
  EXPECT_EQ(label(FloatFeature({})), "feature 'label' has 0 values, not 1");
  EXPECT_EQ(label(""),
            "the label is missing: no feature 'label' (shoal infer takes such "
            "rows)");
  EXPECT_EQ(label(WireBytes(1, WireBytes(1, "1"))),
            "feature 'label' is neither float nor int64");
}

TEST(TfExampleParserTest, TakesTheLabelsOfThreeClasses) {
  const auto label = [](const std::string& feature) {
    TfExampleParser parser(kFeatures, kFieldCount, /*any_label=*/false,
                           /*num_labels=*/3);
    ExampleBatch row;
    std::string reason;
    const Result result =
        parser.Parse(TfExample({{"label", feature}, {"ids", IntFeature({1})}}),
                     &row, &reason);
    return result == Result::kRow ? std::to_string(row.labels[0]) : reason;
  };
  EXPECT_EQ(label(FloatFeature({0})), "0");
  EXPECT_EQ(label(FloatFeature({2})), "2");
  EXPECT_EQ(label(IntFeature({1})), "1");
  EXPECT_EQ(label(IntFeature({2})), "2");
  EXPECT_EQ(label(FloatFeature({-1})),
            "label -1 is not an integer in [0, 2]");
  EXPECT_EQ(label(FloatFeature({0.5f})),
            "label 0.5 is not an integer in [0, 2]");
  EXPECT_EQ(label(FloatFeature({std::numeric_limits<float>::quiet_NaN()})),
            "label nan is not an integer in [0, 2]");
  EXPECT_EQ(label(IntFeature({3})), "label 3 is not an integer in [0, 2]");
  EXPECT_EQ(label(IntFeature({-1})), "label -1 is not an integer in [0, 2]");
  EXPECT_EQ(label(IntFeature({256})), "label 256 is not an integer in [0, 2]");
}

TEST(TfExampleParserTest, LabelsThatMeanNothingMayBeAnyOrAbsent) {
  for (const auto& [feature, label] :
       {std::pair<std::string, uint8_t>{FloatFeature({7}), 0},
        {IntFeature({1}), 1},
        {FloatFeature({std::numeric_limits<float>::quiet_NaN()}), 0},
        {"", 0}}) {
    TfExampleParser parser(kFeatures, kFieldCount, /*any_label=*/true);
    ExampleBatch row;
    std::string reason;
    EXPECT_EQ(
        parser.Parse(TfExample({{"label", feature}, {"ids", IntFeature({1})}}),
                     &row, &reason),
        Result::kRow)
        << reason;
    EXPECT_THAT(row.labels, ElementsAre(label));
  }
}

TEST(TfExampleParserTest, OfRowsWithoutKnownLabelsNoneIsNeeded) {
  TfExampleParser parser(kFeatures, kFieldCount, /*any_label=*/true);
  ExampleBatch rows;
  std::string reason;
  for (const std::string& label :
       {std::string(), FloatFeature({2}), FloatFeature({1, 0}),
        FloatFeature({1}), WireBytes(1, WireBytes(1, "1"))}) {
    EXPECT_EQ(
        parser.Parse(TfExample({{"label", label}, {"ids", IntFeature({1})}}),
                     &rows, &reason),
        Result::kRow)
        << reason;
  }
  EXPECT_THAT(rows.labels, ElementsAre(0, 0, 0, 1, 0));
  EXPECT_EQ(
      parser.Parse(TfExample({{"label", FloatFeature({1})}}), &rows, &reason),
      Result::kBad)
      << "ids are";
}

TEST(TfExampleParserTest, ValuesMayBeAbsentAndAreOneThen) {
  for (const auto& features :
       {std::vector<std::pair<std::string, std::string>>{
            {"label", FloatFeature({1})}, {"ids", IntFeature({5, 6})}},
        {{"label", FloatFeature({1})},
         {"ids", IntFeature({5, 6})},
         {"values", ""}}}) {
    EXPECT_THAT(Parse(TfExample(features)).row.values, ElementsAre(1, 1));
  }
}

TEST(TfExampleParserTest, RowsMayBeShortAndEmptyButNotLong) {
  const Parsed empty = Parse(TfExampleRow(1, {}, {}));
  EXPECT_EQ(empty.row.size(), 1u);
  EXPECT_THAT(empty.row.ids, IsEmpty());
  EXPECT_EQ(Parse(TfExampleRow(0, {1, 2, 3, 4}, {1, 1, 1, 1})).reason, "");
  EXPECT_EQ(Reason(TfExampleRow(0, {1, 2, 3, 4, 5}, {1, 1, 1, 1, 1})),
            "more than 4 features (--field_size): 5");
}

TEST(TfExampleParserTest, IdsAreBelowFeatureSizeOrAny64Bits) {
  EXPECT_EQ(Reason(TfExampleRow(0, {1, 1000}, {1, 1})),
            "id 1000 is not in [0, 1000) (--feature_size)");
  EXPECT_EQ(Reason(TfExampleRow(0, {-1}, {1})),
            "id -1 is not in [0, 1000) (--feature_size)");
  const Parsed any = Parse(TfExampleRow(0, {-1, 1000}, {1, 1}), 0);
  EXPECT_THAT(any.row.ids, ElementsAre(~uint64_t{0}, 1000));
}

TEST(TfExampleParserTest, BadRowsSayWhatIsWrong) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Reason(TfExampleRow(0, {1, 2}, {1, nan})),
            "value 1, of id 2, is not a finite number");
  EXPECT_EQ(Reason(TfExampleRow(0, {1, 2}, {-inf, 1})),
            "value 0, of id 1, is not a finite number");
  EXPECT_EQ(Reason(TfExampleRow(0, {1, 2}, {1})),
            "feature 'values' has 1 values for 2 ids");
  EXPECT_EQ(Reason(TfExample({{"label", FloatFeature({1})}})),
            "no feature 'ids'");
  EXPECT_EQ(Reason(TfExample(
                {{"label", FloatFeature({1})}, {"ids", FloatFeature({1})}})),
            "feature 'ids' is not int64");
  EXPECT_EQ(Reason(TfExample({{"label", FloatFeature({1})},
                              {"ids", IntFeature({1})},
                              {"values", IntFeature({1})}})),
            "feature 'values' is not float");
  EXPECT_EQ(Reason(""),
            "the label is missing: no feature 'label' (shoal infer takes such "
            "rows)");
  EXPECT_EQ(Reason("0 1:1 2:1"), "not a tf.Example message");
}

TEST(TfExampleParserTest, TheLastOfTwoHoldsAsInProtobuf) {
  const Parsed twice = Parse(TfExample({{"label", FloatFeature({1})},
                                        {"ids", IntFeature({1, 2, 3})},
                                        {"label", IntFeature({0})},
                                        {"ids", IntFeature({9})}}));
  EXPECT_THAT(twice.row.labels, ElementsAre(0));
  EXPECT_THAT(twice.row.ids, ElementsAre(9));
  // Two lists of one kind in one feature are one list; of two, the last one.
  const Parsed joined =
      Parse(TfExample({{"label", IntFeature({7}) + FloatFeature({1})},
                       {"ids", IntFeature({1}) + IntFeature({2}, false)}}));
  EXPECT_THAT(joined.row.labels, ElementsAre(1));
  EXPECT_THAT(joined.row.ids, ElementsAre(1, 2));
  // Two Features messages are one.
  const Parsed merged = Parse(TfExample({{"label", FloatFeature({1})}}) +
                              TfExample({{"ids", IntFeature({3})}}));
  EXPECT_THAT(merged.row.ids, ElementsAre(3));
  // An entry's key may come last.
  const Parsed key_last = Parse(WireBytes(
      1,
      WireBytes(1, WireBytes(2, FloatFeature({1})) + WireBytes(1, "label")) +
          WireBytes(1, WireBytes(2, IntFeature({4})) + WireBytes(1, "ids"))));
  EXPECT_THAT(key_last.row.ids, ElementsAre(4));
}

TEST(TfExampleParserTest, UnknownFieldsArePassedOver) {
  const std::string unknown =
      WireVarint(9 << 3 | 0) + WireVarint(300) + WireVarint(9 << 3 | 1) +
      "12345678" + WireVarint(9 << 3 | 5) + "1234" + WireBytes(9, "x");
  const Parsed parsed = Parse(
      unknown + TfExample({{"label", unknown + FloatFeature({1}) + unknown},
                           {"ids", unknown + IntFeature({1})}}));
  EXPECT_THAT(parsed.row.ids, ElementsAre(1));
  // A group is not; nor is field 0, nor a varint of eleven bytes.
  EXPECT_EQ(Reason(WireVarint(9 << 3 | 3)), "not a tf.Example message");
  EXPECT_EQ(Reason(WireVarint(2)), "not a tf.Example message");
  EXPECT_EQ(Reason(std::string(11, '\xff')), "not a tf.Example message");
}

TEST(TfExampleParserTest, EveryPrefixIsARowOrABadRow) {
  const std::string example = TfExampleRow(1, {1, 500, 999}, {1, 2, 3});
  for (size_t size = 0; size < example.size(); ++size) {
    EXPECT_NE(Reason(example.substr(0, size)), "") << size;
  }
}

TEST(TfExampleParserTest, EveryDamagedByteIsARowOrABadRow) {
  const std::string example = TfExampleRow(1, {1, 500, 999}, {1, 2, 3});
  for (size_t byte = 0; byte < example.size(); ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = example;
      damaged[byte] = static_cast<char>(damaged[byte] ^ 1 << bit);
      const Parsed parsed = Parse(damaged);
      for (const FeatureId id : parsed.row.ids) ASSERT_LT(id, kFeatures);
      ASSERT_LE(parsed.row.ids.size(), static_cast<size_t>(kFieldCount));
    }
  }
}

}  // namespace
}  // namespace shoal
