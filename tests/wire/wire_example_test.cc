// The bytes of docs/wire_protocol.md are what the codec writes and what
// protobuf reads.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "proto/shoal.pb.h"
#include "tests/harness/test_paths.h"
#include "tests/wire/codec_test_util.h"
#include "wire/codec/push_codec.h"
#include "wire/codec/push_frame.h"

namespace shoal {
namespace {

// The bytes of the page's ```hex block, without its comments.
std::string BytesOfThePage() {
  std::ifstream file(SourceDir() + "/docs/wire_protocol.md");
  std::string hex;
  bool found = false;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "## One small push, byte by byte") found = true;
    if (found && line == "```hex") {
      inside = true;
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      for (const char c : line.substr(0, line.find('#'))) {
        if (c != ' ') hex.push_back(c);
      }
    }
  }
  return absl::HexStringToBytes(hex);
}

TEST(WireExampleTest, ThePageTheCodecAndProtobufAgree) {
  const std::vector<FeatureId> ids = {7, 70'000};
  const std::vector<float> rows = {0.5f, -1, 0.25f, 2};
  const std::vector<float> block = {1.5f};
  PushRequest push;
  push.identity = {"demo", {1, 4}, {1, 2}, 1};
  push.batches = {{.id = {0, 3, 5}, .lease = 9}};
  push.pulled = {{1, 2}, 300};
  push.tables = {{0, ids, rows}};
  push.blocks = {{1, block}};
  CopyCounter copies;
  const auto pool = WireBufferPool::Create(1 << 20);
  const std::string bytes = Join(EncodePushRequest(push, pool.get(), &copies));
  EXPECT_EQ(bytes.size(), 89);
  EXPECT_EQ(absl::BytesToHexString(bytes),
            absl::BytesToHexString(BytesOfThePage()));

  v1::PushRequest proto;
  ASSERT_TRUE(proto.ParseFromString(bytes));
  EXPECT_EQ(proto.identity().job(), "demo");
  EXPECT_EQ(proto.batch().index(), 5u);
  EXPECT_EQ(proto.pulled().count(), 300u);
  EXPECT_EQ(Numbers<FeatureId>(proto.tables(0).ids()), ids);
  EXPECT_EQ(Numbers<float>(proto.tables(0).gradients()), rows);
  EXPECT_EQ(Numbers<float>(proto.blocks(0).gradients()), block);
  EXPECT_EQ(proto.SerializeAsString(), bytes);
}

}  // namespace
}  // namespace shoal
