// Our encoding of Pull against the generated classes, both ways.
#include "wire/codec/pull_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "google/protobuf/unknown_field_set.h"
#include "proto/shoal.pb.h"
#include "tests/wire/codec_test_util.h"
#include "wire/codec/pull_frame.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

const CallIdentity kIdentity = {"job-1", {3, 9}, {3, 1}, 1};

class PullCodecTest : public testing::Test {
 protected:
  PullCodecTest() : rows_(3 * 4), block_(5) {
    request_.identity = kIdentity;
    request_.read_only = true;
    request_.tables = {{0, ids_, absl::MakeSpan(rows_)}, {7, {}, {}}};
    request_.blocks = {{300, absl::MakeSpan(block_), 1'000'000}};
  }

  // A reply to request_ with values 1, 2, 3, …
  v1::PullReply Reply() const {
    v1::PullReply reply;
    EXPECT_TRUE(reply.mutable_identity()->ParseFromString(identity_bytes_));
    reply.mutable_version()->mutable_life()->set_start(3);
    reply.mutable_version()->mutable_life()->set_n(1);
    reply.mutable_version()->set_count(1 << 20);
    reply.set_colour(5);
    std::vector<float> rows(rows_.size());
    std::iota(rows.begin(), rows.end(), 1.0f);
    std::vector<float> block(block_.size());
    std::iota(block.begin(), block.end(), 101.0f);
    reply.add_tables()->set_values(Bytes(rows));
    reply.add_tables()->set_table(7);
    v1::BlockValues* values = reply.add_blocks();
    values->set_block(300);
    values->set_offset(1'000'000);
    values->set_values(Bytes(block));
    return reply;
  }

  absl::Status Decode(const v1::PullReply& reply) {
    const std::string bytes = reply.SerializeAsString();
    return Decode(Pieces::Whole(bytes));
  }
  absl::Status Decode(const Pieces& pieces) {
    decoded_ = {};
    return DecodePullReply(pieces.fragments(), request_, &copies_, &decoded_);
  }

  static std::string MakeIdentityBytes() {
    v1::Identity identity;
    identity.set_job(kIdentity.job);
    identity.mutable_worker()->set_start(3);
    identity.mutable_worker()->set_n(9);
    identity.mutable_shard()->set_start(3);
    identity.mutable_shard()->set_n(1);
    identity.set_map_version(1);
    return identity.SerializeAsString();
  }

  const std::string identity_bytes_ = MakeIdentityBytes();
  const std::vector<FeatureId> ids_ = {1, ~FeatureId{0}, 77};
  std::vector<float> rows_;
  std::vector<float> block_;
  PullRequest request_;
  PullReply decoded_;
  CopyCounter copies_;
  const std::shared_ptr<WireBufferPool> pool_ = WireBufferPool::Create(1 << 20);
};

TEST_F(PullCodecTest, ARequestIsWhatProtobufWouldWrite) {
  v1::PullRequest want;
  ASSERT_TRUE(want.mutable_identity()->ParseFromString(identity_bytes_));
  want.set_read_only(true);
  want.add_tables()->set_row_dim(4);
  want.mutable_tables(0)->set_ids(Bytes(ids_));
  want.add_tables()->set_table(7);
  want.add_blocks()->set_block(300);
  want.mutable_blocks(0)->set_size(5);
  want.mutable_blocks(0)->set_offset(1'000'000);
  EXPECT_EQ(Join(EncodePullRequest(request_, pool_.get(), &copies_)),
            want.SerializeAsString());
  EXPECT_EQ(copies_.payload_bytes, ids_.size() * sizeof(FeatureId));
  EXPECT_EQ(copies_.copied_bytes, copies_.payload_bytes);
}

TEST_F(PullCodecTest, AReplyIsReadStraightIntoTheSpans) {
  const std::string bytes = Reply().SerializeAsString();
  for (size_t size = 1; size <= bytes.size(); ++size) {
    std::fill(rows_.begin(), rows_.end(), 0);
    std::fill(block_.begin(), block_.end(), 0);
    ASSERT_TRUE(Decode(Pieces::OfSize(bytes, size)).ok());
    EXPECT_EQ(rows_.front(), 1);
    EXPECT_EQ(rows_.back(), 12);
    EXPECT_EQ(block_.front(), 101);
    EXPECT_EQ(block_.back(), 105);
    EXPECT_EQ(decoded_.version, (Version{{3, 1}, 1 << 20}));
    EXPECT_EQ(decoded_.colour, 5);
  }
  EXPECT_EQ(copies_.copied_bytes, copies_.payload_bytes);
}

TEST_F(PullCodecTest, FieldsMayComeInAnyOrderAmongUnknownOnes) {
  const v1::PullReply reply = Reply();
  v1::PullReply values;
  *values.mutable_tables() = reply.tables();
  *values.mutable_blocks() = reply.blocks();
  google::protobuf::UnknownFieldSet* unknown =
      values.GetReflection()->MutableUnknownFields(&values);
  unknown->AddVarint(1000, 1);
  unknown->AddFixed32(1001, 2);
  unknown->AddFixed64(1002, 3);
  unknown->AddLengthDelimited(1003, "more");
  unknown->AddGroup(1004)->AddGroup(5)->AddVarint(6, 7);
  v1::PullReply rest = reply;
  rest.clear_tables();
  rest.clear_blocks();
  // A known number with another type is an unknown field.
  rest.GetReflection()->MutableUnknownFields(&rest)->AddFixed32(4, 9);
  v1::PullReply identity;
  *identity.mutable_identity() = reply.identity();
  rest.clear_identity();
  ASSERT_TRUE(Decode(Pieces::OfSize(values.SerializeAsString() +
                                        rest.SerializeAsString() +
                                        identity.SerializeAsString(),
                                    7))
                  .ok());
  EXPECT_EQ(rows_.back(), 12);
  EXPECT_EQ(block_.back(), 105);
  EXPECT_EQ(decoded_.colour, 5);
}

TEST_F(PullCodecTest, AFieldThatComesTwiceIsMergedAsProtobufDoes) {
  v1::PullReply first = Reply();
  first.mutable_identity()->set_job("another");
  first.mutable_identity()->clear_worker();
  first.clear_tables();
  first.clear_blocks();
  ASSERT_TRUE(Decode(Pieces::Whole(first.SerializeAsString() +
                                   Reply().SerializeAsString()))
                  .ok());
}

TEST_F(PullCodecTest, AReplyThatIsNotWhatWasAskedForIsRefused) {
  v1::PullReply reply = Reply();
  reply.mutable_tables(0)->mutable_values()->append(4, '\0');
  absl::Status status = Decode(reply);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("52 bytes for table 0, but 48 were asked"));

  reply = Reply();
  reply.mutable_tables(0)->mutable_values()->pop_back();
  EXPECT_EQ(Decode(reply).code(), absl::StatusCode::kDataLoss);

  reply = Reply();
  reply.mutable_tables(0)->set_table(1);
  EXPECT_EQ(Decode(reply).code(), absl::StatusCode::kDataLoss);

  reply = Reply();
  reply.add_tables();
  EXPECT_EQ(Decode(reply).code(), absl::StatusCode::kDataLoss);

  reply = Reply();
  reply.mutable_tables()->RemoveLast();
  EXPECT_EQ(Decode(reply).code(), absl::StatusCode::kDataLoss);

  reply = Reply();
  reply.mutable_blocks(0)->set_offset(0);
  EXPECT_EQ(Decode(reply).code(), absl::StatusCode::kDataLoss);

  reply = Reply();
  reply.clear_blocks();
  EXPECT_EQ(Decode(reply).code(), absl::StatusCode::kDataLoss);

  EXPECT_EQ(Decode(Pieces::Whole("garbage")).code(),
            absl::StatusCode::kDataLoss);
}

TEST_F(PullCodecTest, AnAnswerOfAnotherLifeOrJobCountsForNothing) {
  v1::PullReply reply = Reply();
  reply.mutable_identity()->mutable_shard()->set_n(2);
  absl::Status status = Decode(reply);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("shard life 3.2"));

  reply = Reply();
  reply.mutable_identity()->mutable_worker()->set_n(8);
  EXPECT_EQ(Decode(reply).code(), absl::StatusCode::kFailedPrecondition);
  reply = Reply();
  reply.mutable_identity()->set_job("job-2");
  EXPECT_EQ(Decode(reply).code(), absl::StatusCode::kFailedPrecondition);
  reply = Reply();
  reply.mutable_identity()->set_map_version(2);
  EXPECT_EQ(Decode(reply).code(), absl::StatusCode::kFailedPrecondition);
  reply = Reply();
  reply.mutable_version()->mutable_life()->set_n(2);
  EXPECT_EQ(Decode(reply).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(PullCodecTest, ValuesThatAreNoWholeRowsAreNotSent) {
  EXPECT_TRUE(CheckPullRequest(request_).ok());
  request_.tables[0].values = absl::MakeSpan(rows_).subspan(1);
  EXPECT_EQ(CheckPullRequest(request_).code(),
            absl::StatusCode::kInvalidArgument);
  request_.tables[0].ids = {};
  EXPECT_EQ(CheckPullRequest(request_).code(),
            absl::StatusCode::kInvalidArgument);
}

// ---- The server's side ------------------------------------------------------

class PullFrameTest : public PullCodecTest {
 protected:
  absl::Status DecodeRequest(absl::string_view bytes, size_t piece = 1000) {
    const Pieces pieces = Pieces::OfSize(bytes, piece);
    const absl::Status status =
        frame_.Decode(pieces.fragments(), limits_, &copies_);
    if (status.ok()) frame_.MakeReply(pool_.get());
    return status;
  }

  PullFrame frame_;
  CodecLimits limits_;
};

TEST_F(PullFrameTest, ARequestIsReadFromAnyPiecesAndAnsweredFromItsOwnMemory) {
  const std::string bytes =
      Join(EncodePullRequest(request_, pool_.get(), &copies_));
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    ASSERT_TRUE(DecodeRequest(bytes, piece).ok());
    const PullRequest& pull = frame_.request();
    EXPECT_EQ(pull.identity.job, "job-1");
    EXPECT_EQ(pull.identity.worker, (Life{3, 9}));
    EXPECT_EQ(pull.identity.shard, (Life{3, 1}));
    EXPECT_EQ(pull.identity.map_version, 1);
    EXPECT_TRUE(pull.read_only);
    ASSERT_EQ(pull.tables.size(), 2);
    EXPECT_EQ(pull.tables[0].table, 0);
    EXPECT_THAT(pull.tables[0].ids, testing::ElementsAreArray(ids_));
    ASSERT_EQ(pull.tables[0].values.size(), 12);
    EXPECT_EQ(pull.tables[1].table, 7);
    EXPECT_TRUE(pull.tables[1].ids.empty());
    EXPECT_TRUE(pull.tables[1].values.empty());
    ASSERT_EQ(pull.blocks.size(), 1);
    EXPECT_EQ(pull.blocks[0].block, 300);
    EXPECT_EQ(pull.blocks[0].offset, 1'000'000);
    ASSERT_EQ(pull.blocks[0].values.size(), 5);
    std::iota(pull.tables[0].values.begin(), pull.tables[0].values.end(), 1.0f);
    std::iota(pull.blocks[0].values.begin(), pull.blocks[0].values.end(),
              101.0f);
    // Spans start on cache lines, wherever the bytes around them end.
    EXPECT_EQ(reinterpret_cast<uintptr_t>(pull.tables[0].values.data()) % 64,
              0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(pull.blocks[0].values.data()) % 64,
              0);
    const WireMessage reply = frame_.EncodeReply({{{3, 1}, 1 << 20}, 5});
    EXPECT_EQ(Join(reply), Reply().SerializeAsString());
    EXPECT_EQ(Join(reply).size(), reply.size);
  }
}

TEST_F(PullFrameTest, AnEmptyPullIsAnswered) {
  ASSERT_TRUE(DecodeRequest("").ok());
  v1::PullReply reply;
  ASSERT_TRUE(
      reply.ParseFromString(Join(frame_.EncodeReply({{{3, 1}, 2}, 0}))));
  EXPECT_EQ(reply.version().count(), 2);
  EXPECT_EQ(reply.tables_size(), 0);
}

TEST_F(PullFrameTest, WhatIsMalformedOrTooMuchIsRefused) {
  v1::PullRequest request;
  request.add_tables()->set_ids("1234567");
  absl::Status status = DecodeRequest(request.SerializeAsString());
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("ids has 7 bytes, not a multiple of 8"));

  request.mutable_tables(0)->set_ids(std::string(8, 'x'));
  request.mutable_tables(0)->set_row_dim(limits_.max_row_dim + 1);
  EXPECT_EQ(DecodeRequest(request.SerializeAsString()).code(),
            absl::StatusCode::kInvalidArgument);

  request.mutable_tables(0)->set_row_dim(limits_.max_row_dim);
  request.mutable_tables(0)->set_ids(std::string(8 * 17, 'x'));
  status = DecodeRequest(request.SerializeAsString());
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("--max_message_bytes"));

  for (const uint64_t size :
       {limits_.max_reply_bytes / 4 + 1, uint64_t{1} << 62, ~uint64_t{0}}) {
    request.Clear();
    request.add_blocks()->set_size(size);
    EXPECT_FALSE(DecodeRequest(request.SerializeAsString()).ok()) << size;
  }

  request.Clear();
  for (uint64_t i = 0; i <= limits_.max_tables; ++i) request.add_tables();
  EXPECT_EQ(DecodeRequest(request.SerializeAsString()).code(),
            absl::StatusCode::kInvalidArgument);

  request.Clear();
  request.mutable_identity()->set_job(std::string(257, 'j'));
  EXPECT_EQ(DecodeRequest(request.SerializeAsString()).code(),
            absl::StatusCode::kInvalidArgument);

  // A table number of more than 32 bits.
  EXPECT_EQ(
      DecodeRequest(std::string("\x1a\x06\x08\xff\xff\xff\xff\x7f", 8)).code(),
      absl::StatusCode::kInvalidArgument);
  // The frame is usable after all that.
  EXPECT_TRUE(
      DecodeRequest(Join(EncodePullRequest(request_, pool_.get(), &copies_)))
          .ok());
}

}  // namespace
}  // namespace shoal
