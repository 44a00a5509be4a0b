// Our encoding of Push against the generated classes, both ways.
#include "wire/codec/push_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "proto/shoal.pb.h"
#include "tests/wire/codec_test_util.h"
#include "wire/codec/push_frame.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

// A number of 64 bits, as start numbers are.
constexpr StartNumber kBigStart = 0x3a5f2e10c4d79b68;

class PushCodecTest : public testing::Test {
 protected:
  PushCodecTest() {
    request_.identity = {"job-1", {kBigStart, 9}, {kBigStart, 1}, 1};
    request_.batches = {{.id = {2, 300, 70'000}, .lease = uint64_t{1} << 60}};
    request_.colour = 4;
    request_.pulled = {{kBigStart, 1}, 12345};
    request_.tables = {{0, ids_, rows_}, {6, {}, {}}};
    request_.blocks = {{0, block_}, {400, block_}};
  }

  // Adds batches after the first to `proto`, and all to the request.
  void AddBatches(uint32_t count, v1::PushRequest* proto) {
    proto->set_examples(1024);
    request_.batches[0].examples = 1024;
    for (uint32_t i = 0; i < count; ++i) {
      v1::PushedBatch* const batch = proto->add_more_batches();
      batch->mutable_id()->set_piece(1000 * i);
      batch->mutable_id()->set_index(i);
      batch->set_lease(1 + i);
      batch->set_examples(100 * i);
      batch->set_rejected(i % 3 == 0);
      request_.batches.push_back(
          {{0, 1000 * i, i}, 1 + i, 100 * i, i % 3 == 0});
    }
  }

  v1::PushRequest Proto() const {
    v1::PushRequest proto;
    proto.mutable_identity()->set_job("job-1");
    proto.mutable_identity()->mutable_worker()->set_start(kBigStart);
    proto.mutable_identity()->mutable_worker()->set_n(9);
    proto.mutable_identity()->mutable_shard()->set_start(kBigStart);
    proto.mutable_identity()->mutable_shard()->set_n(1);
    proto.mutable_identity()->set_map_version(1);
    proto.mutable_batch()->set_epoch(2);
    proto.mutable_batch()->set_piece(300);
    proto.mutable_batch()->set_index(70'000);
    proto.set_lease(uint64_t{1} << 60);
    proto.set_colour(4);
    proto.mutable_pulled()->mutable_life()->set_start(kBigStart);
    proto.mutable_pulled()->mutable_life()->set_n(1);
    proto.mutable_pulled()->set_count(12345);
    proto.add_tables()->set_ids(Bytes(ids_));
    proto.mutable_tables(0)->set_gradients(Bytes(rows_));
    proto.add_tables()->set_table(6);
    proto.add_blocks()->set_gradients(Bytes(block_));
    proto.add_blocks()->set_block(400);
    proto.mutable_blocks(1)->set_gradients(Bytes(block_));
    return proto;
  }

  absl::Status DecodeRequest(absl::string_view bytes, size_t piece = 1000) {
    const Pieces pieces = Pieces::OfSize(bytes, piece);
    return frame_.Decode(pieces.fragments(), CodecLimits(), &copies_);
  }

  const std::vector<FeatureId> ids_ = {5, 0, ~FeatureId{0}};
  const std::vector<float> rows_ = {1, -2, 3, -4, 5, -6};
  const std::vector<float> block_ = {0.5f, 0.25f};
  PushRequest request_;
  PushFrame frame_;
  CopyCounter copies_;
  const std::shared_ptr<WireBufferPool> pool_ = WireBufferPool::Create(1 << 20);
};

TEST_F(PushCodecTest, ARequestIsWhatProtobufWouldWrite) {
  const WireMessage message =
      EncodePushRequest(request_, pool_.get(), &copies_);
  EXPECT_EQ(Join(message), Proto().SerializeAsString());
  EXPECT_EQ(copies_.payload_bytes, 3 * 8 + 6 * 4 + 2 * 2 * 4);
  EXPECT_EQ(copies_.copied_bytes, copies_.payload_bytes);
}

TEST_F(PushCodecTest, AnEmptyPushIsWhatProtobufWouldWrite) {
  request_.tables.clear();
  request_.blocks.clear();
  v1::PushRequest proto = Proto();
  proto.clear_tables();
  proto.clear_blocks();
  EXPECT_EQ(Join(EncodePushRequest(request_, pool_.get(), &copies_)),
            proto.SerializeAsString());
}

TEST_F(PushCodecTest, ARejectedPushGoesBothWays) {
  request_.tables.clear();
  request_.blocks.clear();
  request_.batches[0].rejected = true;
  v1::PushRequest proto = Proto();
  proto.clear_tables();
  proto.clear_blocks();
  proto.set_rejected(true);
  const std::string bytes =
      Join(EncodePushRequest(request_, pool_.get(), &copies_));
  EXPECT_EQ(bytes, proto.SerializeAsString());
  ASSERT_TRUE(DecodeRequest(bytes).ok());
  EXPECT_TRUE(frame_.request().batches[0].rejected);
  EXPECT_TRUE(frame_.request().tables.empty());
  EXPECT_TRUE(frame_.request().blocks.empty());
  // The frame's next push is another.
  ASSERT_TRUE(DecodeRequest(Proto().SerializeAsString()).ok());
  EXPECT_FALSE(frame_.request().batches[0].rejected);
}

TEST_F(PushCodecTest, ARequestIsReadFromAnyPiecesIntoAlignedMemory) {
  const std::string bytes = Proto().SerializeAsString();
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    ASSERT_TRUE(DecodeRequest(bytes, piece).ok());
    const PushRequest& push = frame_.request();
    EXPECT_EQ(push.identity.job, "job-1");
    EXPECT_EQ(push.identity.worker, (Life{kBigStart, 9}));
    EXPECT_EQ(push.identity.shard, (Life{kBigStart, 1}));
    // A sender of one batch need not tell its examples.
    EXPECT_THAT(push.batches, ElementsAre(PushedBatch{
                                  {2, 300, 70'000}, uint64_t{1} << 60}));
    EXPECT_EQ(push.colour, 4);
    EXPECT_EQ(push.pulled, (Version{{kBigStart, 1}, 12345}));
    ASSERT_EQ(push.tables.size(), 2);
    EXPECT_THAT(push.tables[0].ids, ElementsAreArray(ids_));
    EXPECT_THAT(push.tables[0].gradients, ElementsAreArray(rows_));
    EXPECT_EQ(push.tables[1].table, 6);
    EXPECT_TRUE(push.tables[1].ids.empty());
    ASSERT_EQ(push.blocks.size(), 2);
    EXPECT_EQ(push.blocks[1].block, 400);
    for (const BlockPush& block : push.blocks) {
      EXPECT_THAT(block.gradients, ElementsAreArray(block_));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block.gradients.data()) % 64, 0);
    }
  }
  EXPECT_EQ(copies_.copied_bytes, copies_.payload_bytes);
}

TEST_F(PushCodecTest, AListOfBatchesGoesBothWays) {
  for (const uint32_t more : {0, 1, 39}) {
    request_.batches.resize(1);
    v1::PushRequest proto = Proto();
    AddBatches(more, &proto);
    const std::string bytes =
        Join(EncodePushRequest(request_, pool_.get(), &copies_));
    EXPECT_EQ(bytes, proto.SerializeAsString()) << more;
    for (size_t piece = 1; piece <= bytes.size(); piece += 7) {
      ASSERT_TRUE(DecodeRequest(bytes, piece).ok());
      EXPECT_EQ(frame_.request().batches, request_.batches);
      EXPECT_EQ(frame_.request().tables.size(), 2);
    }
  }
  // The frame's next push has one batch.
  ASSERT_TRUE(DecodeRequest(Proto().SerializeAsString()).ok());
  EXPECT_EQ(frame_.request().batches.size(), 1);
}

TEST_F(PushCodecTest, MoreBatchesThanTheLimitAreRefused) {
  v1::PushRequest proto = Proto();
  AddBatches(kMaxPushedBatches - 1, &proto);
  ASSERT_TRUE(DecodeRequest(proto.SerializeAsString()).ok());
  EXPECT_EQ(frame_.request().batches, request_.batches);
  proto.add_more_batches();
  const absl::Status status = DecodeRequest(proto.SerializeAsString());
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("more than 4096 batches"));
}

// The codec takes a batch that comes twice; the shard refuses it.
TEST_F(PushCodecTest, ABatchThatComesTwiceIsRead) {
  v1::PushRequest proto = Proto();
  proto.add_more_batches()->mutable_id()->CopyFrom(proto.batch());
  ASSERT_TRUE(DecodeRequest(proto.SerializeAsString()).ok());
  EXPECT_EQ(CheckPushedBatches(frame_.request().batches).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(PushCodecTest, AListThatIsCutOffIsRefused) {
  v1::PushRequest proto = Proto();
  AddBatches(3, &proto);
  const std::string bytes = proto.SerializeAsString();
  int refused = 0;
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string part = bytes.substr(0, size);
    const bool ok = DecodeRequest(part, 5).ok();
    EXPECT_EQ(ok, v1::PushRequest().ParseFromString(part)) << size;
    refused += !ok;
  }
  EXPECT_GT(refused, 100);
  std::string large = Proto().SerializeAsString();
  large += std::string("\x52\x06\x18\xff\xff\xff\xff\x7f", 8);
  const absl::Status status = DecodeRequest(large);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("PushRequest.more_batches: examples"));
}

TEST_F(PushCodecTest, LengthsThatAreNoWholeNumbersAreRefused) {
  v1::PushRequest proto = Proto();
  proto.mutable_tables(0)->mutable_ids()->pop_back();
  EXPECT_EQ(DecodeRequest(proto.SerializeAsString()).code(),
            absl::StatusCode::kInvalidArgument);
  proto = Proto();
  proto.mutable_tables(0)->mutable_gradients()->pop_back();
  EXPECT_EQ(DecodeRequest(proto.SerializeAsString()).code(),
            absl::StatusCode::kInvalidArgument);
  proto = Proto();
  proto.mutable_blocks(1)->mutable_gradients()->push_back('x');
  const absl::Status status = DecodeRequest(proto.SerializeAsString());
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("PushRequest.blocks: gradients has 9 bytes"));
}

TEST_F(PushCodecTest, ReplyGoesBothWays) {
  ASSERT_TRUE(DecodeRequest(Proto().SerializeAsString()).ok());
  const PushReply reply = {
      Verdict::kRejected, true, false, {{kBigStart, 1}, 99}, 4};
  const std::string bytes = Join(frame_.EncodeReply(reply, pool_.get()));
  v1::PushReply proto;
  ASSERT_TRUE(proto.ParseFromString(bytes));
  EXPECT_EQ(proto.SerializeAsString(), bytes);
  EXPECT_EQ(proto.verdict(), v1::VERDICT_REJECTED);
  EXPECT_TRUE(proto.repeat());
  EXPECT_EQ(proto.version().count(), 99);

  PushReply decoded;
  ASSERT_TRUE(DecodePushReply(Pieces::OfSize(bytes, 3).fragments(),
                              request_.identity, &decoded)
                  .ok());
  EXPECT_EQ(decoded.verdict, Verdict::kRejected);
  EXPECT_TRUE(decoded.repeat);
  EXPECT_EQ(decoded.version, (Version{{kBigStart, 1}, 99}));
  EXPECT_EQ(decoded.colour, 4);

  for (const int verdict : {0, 3, 257}) {
    proto.set_verdict(static_cast<v1::Verdict>(verdict));
    const std::string bad = proto.SerializeAsString();
    EXPECT_EQ(DecodePushReply(Pieces::Whole(bad).fragments(), request_.identity,
                              &decoded)
                  .code(),
              absl::StatusCode::kDataLoss)
        << verdict;
  }
  proto.set_verdict(v1::VERDICT_APPLIED);
  proto.mutable_identity()->mutable_shard()->set_n(2);
  const std::string other = proto.SerializeAsString();
  EXPECT_EQ(DecodePushReply(Pieces::Whole(other).fragments(), request_.identity,
                            &decoded)
                .code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace shoal
