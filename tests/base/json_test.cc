#include "base/json_reader.h"

#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(JsonReader, GivesBackWhatTheWriterWrote) {
  std::string every_byte;
  for (int c = 0; c < 256; ++c) every_byte.push_back(static_cast<char>(c));
  std::string text;
  JsonWriter w(&text);
  w.BeginObject(/*lines=*/true);
  w.Key("text").String(every_byte);
  w.Key("number").U64(~uint64_t{0});
  w.Key("float").Float(0.1f);
  w.Key("small").Float(1e-38f);
  w.Key("yes").Bool(true);
  w.Key("crcs").Hex32s({0x1, 0xffffffff});
  w.Key("digest").Hex64(0x0123456789abcdef);
  w.Key("list").BeginArray().U64(1).U64(2).EndArray();
  w.Key("empty").BeginArray(/*lines=*/true).EndArray();
  w.EndObject();
  const auto document = JsonDocument::Parse(text);
  ASSERT_TRUE(document.ok()) << document.status() << "\n" << text;
  const JsonNode& root = (*document)->root();
  EXPECT_EQ(root.Field("text").Bytes(256), every_byte);
  EXPECT_EQ(root.Field("number").U64(), ~uint64_t{0});
  EXPECT_EQ(root.Field("float").Float(), 0.1f);
  EXPECT_EQ(root.Field("small").Float(), 1e-38f);
  EXPECT_TRUE(root.Field("yes").Bool());
  EXPECT_THAT(root.Field("crcs").Hex32s(2), ElementsAre(1u, 0xffffffffu));
  EXPECT_EQ(root.Field("digest").Hex64(), 0x0123456789abcdefu);
  const JsonNode list = root.Field("list");
  EXPECT_EQ(list.Size(2), 2u);
  EXPECT_EQ(list.At(1).U64(), 2u);
  EXPECT_EQ(root.Field("empty").Size(9), 0u);
  EXPECT_TRUE((*document)->status().ok()) << (*document)->status();
}

TEST(JsonReader, TheFirstErrorStaysAndNamesItsPlace) {
  const auto document = JsonDocument::Parse(
      R"({"shards": [{"size": 1}, {"size": -1}], "name": 3})");
  ASSERT_TRUE(document.ok());
  const JsonNode& root = (*document)->root();
  const JsonNode shards = root.Field("shards");
  ASSERT_EQ(shards.Size(10), 2u);
  EXPECT_EQ(shards.At(0).Field("size").U64(), 1u);
  EXPECT_EQ(shards.At(1).Field("size").U64(), 0u);
  EXPECT_EQ(root.Field("name").String(10), "");
  EXPECT_EQ(root.Field("nothing").Field("at all").U64(), 0u);
  EXPECT_EQ((*document)->status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ((*document)->status().message(),
            "shards[1].size: is not a whole number of at least 0");
}

TEST(JsonReader, EachKindOfValueIsCheckedAgainstItsLimit) {
  struct Case {
    const char* json;
    void (*read)(const JsonNode& node);
    const char* expected;
  };
  const Case cases[] = {
      {"[1, 2]", [](const JsonNode& n) { n.Size(1); }, "has 2 entries"},
      {"{}", [](const JsonNode& n) { n.Size(1); }, "is not an array"},
      {"[]", [](const JsonNode& n) { n.Field("a"); }, "is not an object"},
      {"{}", [](const JsonNode& n) { n.Field("a"); }, "a: is missing"},
      {"7", [](const JsonNode& n) { n.U64(6); }, "7 is above 6"},
      {"7.5", [](const JsonNode& n) { n.U64(); }, "not a whole number"},
      {"1e400", [](const JsonNode& n) { n.Float(); }, "not JSON"},
      {"1e39", [](const JsonNode& n) { n.Float(); }, "range of a float"},
      {"18446744073709551616", [](const JsonNode& n) { n.U64(); },
       "not a whole number"},
      {"1", [](const JsonNode& n) { n.Bool(); }, "neither true nor false"},
      {"\"abc\"", [](const JsonNode& n) { n.String(2); }, "has 3 bytes"},
      {"\"\\u0100\"", [](const JsonNode& n) { n.Bytes(9); }, "above U+00FF"},
      {"\"0123456\"", [](const JsonNode& n) { n.Hex32(); }, "eight digits"},
      {"\"0123456g\"", [](const JsonNode& n) { n.Hex32(); }, "hexadecimal"},
      {"\"0123456789\"", [](const JsonNode& n) { n.Hex64(); }, "eight digits"},
      {"{\"a\": 1, \"b\": 2}",
       [](const JsonNode& n) {
         n.ForEachField(1, [](const std::string&, const JsonNode&) {});
       },
       "at most 1"},
  };
  for (const Case& c : cases) {
    const auto document = JsonDocument::Parse(c.json);
    if (!document.ok()) {
      EXPECT_THAT(std::string(document.status().message()),
                  HasSubstr(c.expected));
      continue;
    }
    c.read((*document)->root());
    EXPECT_THAT(std::string((*document)->status().message()),
                HasSubstr(c.expected))
        << c.json;
  }
}

TEST(JsonReader, TextThatIsNoJsonOrTooDeepIsRefused) {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("{} {}"),
        std::string("\"\xff\""), std::string("nul"), std::string("[1,]"),
        std::string(100'000, '['), std::string(1'000'000, '{')}) {
    const auto document = JsonDocument::Parse(text);
    EXPECT_EQ(document.status().code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_TRUE(JsonDocument::Parse("[[\"[[[[\"]]", 2).ok());
  EXPECT_FALSE(JsonDocument::Parse("[[[]]]", 2).ok());
}

// The same values in each layout, so that each byte of a document is known.
std::string Sample(JsonLayout layout, bool ascii) {
  std::string text;
  JsonWriter w(&text, layout, ascii);
  w.BeginObject().Field("name", "a\"\n\x01\x7f\xc3\xa9\xff").Key("list");
  w.Values(std::vector<int>{1, -2}).Field("real", 0.1f).Field("two", 2.0);
  w.Field("none", std::nan("")).Field("small", 1e-7).Key("nothing").Null();
  w.Key("empty").BeginArray().EndArray().Key("in").BeginObject();
  w.Field("ok", true).EndObject().EndObject();
  return text;
}

TEST(JsonWriter, EachLayoutHasItsBlanksAndLines) {
  EXPECT_EQ(Sample(JsonLayout::kCompact, false),
            "{\"name\":\"a\\\"\\n\\u0001\x7f\xc3\xa9\xef\xbf\xbd\","
            "\"list\":[1,-2],\"real\":0.10000000149011612,\"two\":2.0,"
            "\"none\":null,\"small\":1e-07,\"nothing\":null,\"empty\":[],"
            "\"in\":{\"ok\":true}}");
  EXPECT_EQ(Sample(JsonLayout::kIndented, true),
            "{\n  \"name\": \"a\\\"\\n\\u0001\\u007f\\u00e9\\ufffd\",\n"
            "  \"list\": [\n    1,\n    -2\n  ],\n"
            "  \"real\": 0.10000000149011612,\n  \"two\": 2.0,\n"
            "  \"none\": null,\n  \"small\": 1e-07,\n  \"nothing\": null,\n"
            "  \"empty\": [],\n  \"in\": {\n    \"ok\": true\n  }\n}");
  EXPECT_EQ(Sample(JsonLayout::kByBracket, true),
            "{\"name\": \"a\\\"\\n\\u0001\\u007f\\u00e9\\ufffd\", "
            "\"list\": [1, -2], \"real\": 0.10000000149011612, \"two\": 2.0, "
            "\"none\": null, \"small\": 1e-07, \"nothing\": null, "
            "\"empty\": [], \"in\": {\"ok\": true}}");
}

TEST(JsonReader, TellsTheKindAndReadsNumbersWithASign) {
  const auto document = JsonDocument::Parse(
      R"([null, true, -3, 3, 1.5, "t", [], {}, 18446744073709551615])");
  ASSERT_TRUE(document.ok()) << document.status();
  const JsonNode& root = (*document)->root();
  const JsonKind kinds[] = {
      JsonKind::kNull, JsonKind::kBool, JsonKind::kInteger, JsonKind::kInteger,
      JsonKind::kReal, JsonKind::kText, JsonKind::kArray,   JsonKind::kObject};
  for (size_t i = 0; i < std::size(kinds); ++i) {
    EXPECT_EQ(root.At(i).kind(), kinds[i]) << i;
  }
  EXPECT_EQ(root.At(2).Signed(), -3);
  EXPECT_EQ(root.At(8).Signed(), -1);
  EXPECT_EQ(root.At(4).Double(), 1.5);
  EXPECT_EQ(root.At(2).Double(), -3);
  EXPECT_TRUE((*document)->status().ok());
  root.At(5).Double();
  EXPECT_EQ((*document)->status().message(), "[5]: is not a number");
}

}  // namespace
}  // namespace shoal
