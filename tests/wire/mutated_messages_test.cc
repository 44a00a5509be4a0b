// Damaged bytes: whatever they are, a decoder reads nothing beyond them and
// takes no memory that they do not justify; what it accepts is a message to
// protobuf's own parser too.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "proto/shoal.pb.h"
#include "tests/wire/codec_test_util.h"
#include "wire/codec/chunk_codec.h"
#include "wire/codec/pull_codec.h"
#include "wire/codec/pull_frame.h"
#include "wire/codec/push_codec.h"
#include "wire/codec/push_frame.h"

namespace shoal {
namespace {

constexpr int kRounds = 20'000;

std::string Mutate(std::string bytes, std::mt19937* random) {
  const int edits = 1 + static_cast<int>((*random)() % 4);
  for (int i = 0; i < edits && !bytes.empty(); ++i) {
    const size_t at = (*random)() % bytes.size();
    switch ((*random)() % 5) {
      case 0:
        bytes[at] = static_cast<char>((*random)());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << ((*random)() % 8)));
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.insert(at, 1 + (*random)() % 9, static_cast<char>((*random)()));
        break;
      case 4:
        bytes.erase(at, 1 + (*random)() % 9);
        break;
    }
  }
  return bytes;
}

class MutatedMessagesTest : public testing::Test {
 protected:
  MutatedMessagesTest() : values_(ids_.size() * 3) {
    pull_.identity = {"job", {1, 2}, {1, 1}, 1};
    pull_.tables = {{0, ids_, absl::MakeSpan(values_)},
                    {1, ids_, absl::MakeSpan(values_)}};
    pull_.blocks = {{2, absl::MakeSpan(values_), 4}};
    push_.identity = pull_.identity;
    push_.batches = {{.id = {1, 2, 3}, .lease = 9}};
    push_.pulled = {{1, 1}, 5};
    push_.tables = {{0, ids_, values_}, {1, ids_, values_}};
    push_.blocks = {{2, values_}};
  }

  std::mt19937 random_{20};
  const std::vector<FeatureId> ids_ = {1, 2, 300, 70'000};
  std::vector<float> values_;
  PullRequest pull_;
  PushRequest push_;
  CopyCounter copies_;
  const std::shared_ptr<WireBufferPool> pool_ = WireBufferPool::Create(1 << 20);
};

TEST_F(MutatedMessagesTest, PullRequests) {
  CodecLimits limits;
  limits.max_reply_bytes = 1 << 20;
  const std::string good =
      Join(EncodePullRequest(pull_, pool_.get(), &copies_));
  PullFrame frame;
  int accepted = 0;
  for (int i = 0; i < kRounds; ++i) {
    const std::string bytes = Mutate(good, &random_);
    const Pieces pieces = Pieces::Random(bytes, &random_);
    const absl::Status status =
        frame.Decode(pieces.fragments(), limits, &copies_);
    if (!status.ok()) continue;
    frame.MakeReply(pool_.get());
    ++accepted;
    EXPECT_TRUE(v1::PullRequest().ParseFromString(bytes)) << i;
    for (const TablePull& table : frame.request().tables) {
      std::fill(table.values.begin(), table.values.end(), 1.0f);
    }
    for (const BlockPull& block : frame.request().blocks) {
      std::fill(block.values.begin(), block.values.end(), 1.0f);
    }
    EXPECT_TRUE(v1::PullReply().ParseFromString(
        Join(frame.EncodeReply({{{1, 1}, 2}, 3}))));
  }
  // The test reaches both sides.
  EXPECT_GT(accepted, kRounds / 100);
  EXPECT_LT(accepted, kRounds);
}

TEST_F(MutatedMessagesTest, PushRequests) {
  for (uint32_t i = 0; i < 5; ++i) {
    push_.batches.push_back({{1, 2, 4 + i}, 9, 100, i == 3});
  }
  const std::string good =
      Join(EncodePushRequest(push_, pool_.get(), &copies_));
  PushFrame frame;
  int accepted = 0;
  float sum = 0;
  for (int i = 0; i < kRounds; ++i) {
    const std::string bytes = Mutate(good, &random_);
    const Pieces pieces = Pieces::Random(bytes, &random_);
    const absl::Status status =
        frame.Decode(pieces.fragments(), CodecLimits(), &copies_);
    if (!status.ok()) continue;
    ++accepted;
    EXPECT_TRUE(v1::PushRequest().ParseFromString(bytes)) << i;
    EXPECT_GE(frame.request().batches.size(), 1);
    for (const TablePush& table : frame.request().tables) {
      for (const float g : table.gradients) sum += g == 0;
    }
  }
  EXPECT_GT(accepted, kRounds / 100);
  EXPECT_LT(accepted, kRounds);
  EXPECT_GT(sum, 0);
}

TEST_F(MutatedMessagesTest, PullReplies) {
  const std::string request =
      Join(EncodePullRequest(pull_, pool_.get(), &copies_));
  PullFrame frame;
  ASSERT_TRUE(
      frame.Decode(Pieces::Whole(request).fragments(), CodecLimits(), &copies_)
          .ok());
  frame.MakeReply(pool_.get());
  for (const TablePull& table : frame.request().tables) {
    std::fill(table.values.begin(), table.values.end(), 1.0f);
  }
  for (const BlockPull& block : frame.request().blocks) {
    std::fill(block.values.begin(), block.values.end(), 1.0f);
  }
  const std::string good = Join(frame.EncodeReply({{{1, 1}, 2}, 3}));
  int accepted = 0;
  for (int i = 0; i < kRounds; ++i) {
    const std::string bytes = Mutate(good, &random_);
    const Pieces pieces = Pieces::Random(bytes, &random_);
    PullReply reply;
    const absl::Status status =
        DecodePullReply(pieces.fragments(), pull_, &copies_, &reply);
    if (status.ok()) ++accepted;
    EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kDataLoss ||
                status.code() == absl::StatusCode::kFailedPrecondition)
        << status;
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, kRounds);
}

TEST_F(MutatedMessagesTest, PushRepliesAndChunks) {
  PushFrame frame;
  const std::string request =
      Join(EncodePushRequest(push_, pool_.get(), &copies_));
  ASSERT_TRUE(
      frame.Decode(Pieces::Whole(request).fragments(), CodecLimits(), &copies_)
          .ok());
  const std::string reply = Join(frame.EncodeReply(
      {Verdict::kApplied, true, false, {{1, 1}, 6}, 0}, pool_.get()));
  const std::string chunk_reply = EncodePushChunkReply(push_.identity, reply);
  PushChunk chunk;
  chunk.identity = push_.identity;
  chunk.count = 3;
  chunk.total_bytes = 300;
  chunk.crc32c = 0x01020304;
  const std::string data(100, 'd');
  const std::string chunk_bytes =
      EncodePushChunkHead(chunk, data.size()) + data;
  for (int i = 0; i < kRounds; ++i) {
    {
      const Pieces pieces = Pieces::Random(Mutate(reply, &random_), &random_);
      PushReply decoded;
      (void)DecodePushReply(pieces.fragments(), push_.identity, &decoded);
    }
    {
      const Pieces pieces =
          Pieces::Random(Mutate(chunk_reply, &random_), &random_);
      std::optional<PushReply> decoded;
      (void)DecodePushChunkReply(pieces.fragments(), push_.identity, &decoded);
    }
    {
      const std::string bytes = Mutate(chunk_bytes, &random_);
      const Pieces pieces = Pieces::Random(bytes, &random_);
      PushChunk decoded;
      if (!DecodePushChunk(pieces.fragments(), &decoded).ok()) continue;
      uint64_t size = 0;
      for (const absl::string_view fragment : decoded.data) {
        size += fragment.size();
      }
      EXPECT_LE(size, bytes.size());
    }
  }
}

}  // namespace
}  // namespace shoal
