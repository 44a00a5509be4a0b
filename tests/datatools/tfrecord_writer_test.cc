#include "datatools/tfrecord_writer.h"

#include <fstream>
#include <string>
#include <vector>

#include "base/record_framing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/test_paths.h"
#include "worker/data/libsvm_parser.h"

namespace shoal {
namespace {

std::string Record(absl::string_view payload) {
  std::string file;
  AppendRecord(payload, &file);
  return file;
}

std::string Example(uint8_t label, const std::vector<FeatureId>& ids,
                    const std::vector<float>& values) {
  std::string payload;
  AppendTfExample(label, ids, values, &payload);
  return payload;
}

// The masked CRCs by an implementation in Python, bit by bit.
TEST(TfRecordWriterTest, FramesAPayload) {
  EXPECT_EQ(Record("foo"), std::string("\x03\0\0\0\0\0\0\0"
                                       "\xb0\x99\x49\x0e"
                                       "foo"
                                       "\x61\x8a\xbe\xfe",
                                       19));
  EXPECT_EQ(Record("").size(), 16u);
}

// Taken apart by hand, byte by byte.
TEST(TfRecordWriterTest, WritesPackedListsOfTheThreeFeatures) {
  const std::string label(
      "\x0a\x11"
      "\x0a\x05label"
      "\x12\x08\x12\x06\x0a\x04\0\0\x80\x3f",
      19);
  const std::string ids(
      "\x0a\x0f"
      "\x0a\x03ids"
      "\x12\x08\x1a\x06\x0a\x04\x07\xac\x02\x00",
      17);
  const std::string values(
      "\x0a\x1a"
      "\x0a\x06values"
      "\x12\x10\x12\x0e\x0a\x0c\0\0\0\x3f\0\0\0\0\0\0\x80\xbf",
      28);
  EXPECT_EQ(Example(1, {7, 300, 0}, {0.5f, 0, -1}),
            "\x0a\x40" + label + ids + values);
}

TEST(TfRecordWriterTest, IdsTakeAllOf64Bits) {
  const std::string payload = Example(0, {~uint64_t{0}, 1ull << 63}, {1, 1});
  EXPECT_NE(payload.find("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                         "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"),
            std::string::npos);
}

TEST(TfRecordWriterTest, ARowMayHaveNoFeature) {
  const std::string payload = Example(0, {}, {});
  EXPECT_NE(payload.find("ids\x12\x04\x1a\x02\x0a"), std::string::npos);
}

// The same rows by the reference pipeline's writer, where they are there. The
// order of its features is that of a hash map, which differs from row to row:
// label, ids, values or values, label, ids.
TEST(TfRecordWriterTest, RealRowsGiveTheBytesOfTheReference) {
  const std::string folder = TestDataDir() + "/aws_deepfm_criteo_val/";
  std::ifstream text(folder + "val.libsvm");
  std::ifstream records(folder + "val.tfrecords", std::ios::binary);
  if (!text || !records) GTEST_SKIP() << folder << " is not there";
  LibSvmParser parser(0, 39);
  ExampleBatch row;
  std::string reason;
  int equal = 0;
  int rotated = 0;
  for (std::string line; std::getline(text, line);) {
    row.Clear();
    ASSERT_EQ(parser.Parse(line, &row, &reason), LibSvmParser::Line::kRow)
        << reason;
    const std::string payload = Example(row.labels[0], row.ids, row.values);
    const std::string ours = Record(payload);
    std::string reference(ours.size(), '\0');
    ASSERT_TRUE(records.read(reference.data(), reference.size()));
    if (reference == ours) {
      ++equal;
      continue;
    }
    ASSERT_EQ(reference.substr(0, 12), ours.substr(0, 12));  // length and CRC
    const std::string theirs = reference.substr(12, payload.size());
    // Behind the tag and the two bytes of length of what holds the features.
    ASSERT_NE((theirs.substr(3) + theirs.substr(3)).find(payload.substr(3)),
              std::string::npos);
    ASSERT_EQ(Record(theirs), reference);
    ++rotated;
  }
  EXPECT_EQ(equal, 5066);
  EXPECT_EQ(rotated, 4934);
}

}  // namespace
}  // namespace shoal
