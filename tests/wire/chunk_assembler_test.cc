#include "wire/codec/chunk_assembler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/crc32c.h"

namespace shoal {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'000'000'000);

// Chunks of one upload, whose data lies in a string that they own.
class Upload {
 public:
  Upload(std::string bytes, size_t chunk_bytes, uint64_t number = 1,
         Life worker = {1, 5}, BatchId batch = {0, 1, 2})
      : bytes_(std::make_shared<const std::string>(std::move(bytes))) {
    const size_t count = (bytes_->size() + chunk_bytes - 1) / chunk_bytes;
    for (size_t i = 0; i < count; ++i) {
      PushChunk& chunk = chunks_.emplace_back();
      chunk.identity.worker = worker;
      chunk.batch = batch;
      chunk.upload = number;
      chunk.index = static_cast<uint32_t>(i);
      chunk.count = static_cast<uint32_t>(count);
      chunk.total_bytes = bytes_->size();
      chunk.crc32c = Crc32c(*bytes_);
      chunk.data = {
          absl::string_view(*bytes_).substr(i * chunk_bytes, chunk_bytes)};
    }
  }

  PushChunk& operator[](size_t i) { return chunks_[i]; }
  size_t size() const { return chunks_.size(); }
  std::shared_ptr<const std::string> owner() const { return bytes_; }

 private:
  std::shared_ptr<const std::string> bytes_;
  std::vector<PushChunk> chunks_;
};

std::string Join(const ChunkAssembler::Whole& whole) {
  std::string bytes;
  for (const absl::string_view fragment : whole.fragments) {
    bytes.append(fragment.data(), fragment.size());
  }
  return bytes;
}

std::string Letters(size_t n) {
  std::string bytes(n, '\0');
  for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<char>('a' + i % 26);
  return bytes;
}

ChunkAssemblerOptions Options() {
  ChunkAssemblerOptions options;
  options.max_staged_bytes = 1000;
  options.max_uploads = 3;
  options.deadline = absl::Seconds(30);
  return options;
}

class ChunkAssemblerTest : public testing::Test {
 protected:
  // The bytes of the whole; "" while chunks are missing; the error's code.
  absl::StatusOr<std::string> Add(Upload& upload, size_t i,
                                  absl::Duration after = {}) {
    auto result = assembler_.Add(upload[i], upload.owner(), kStart + after);
    if (!result.ok()) return result.status();
    if (!result->has_value()) return "";
    assembler_.Release((*result)->bytes);
    return Join(**result);
  }
  absl::StatusCode Code(Upload& upload, size_t i, absl::Duration after = {}) {
    return Add(upload, i, after).status().code();
  }

  ChunkAssembler assembler_{Options()};
};

TEST_F(ChunkAssemblerTest, JoinsInOrderOfIndexHoweverTheyArrive) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    Upload upload(Letters(100), 1 + random() % 40, 1 + round);
    std::vector<size_t> order(upload.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    for (size_t i = 0; i + 1 < order.size(); ++i) {
      EXPECT_EQ(*Add(upload, order[i]), "");
      EXPECT_EQ(*Add(upload, order[i]), "") << "a chunk sent twice";
      EXPECT_EQ(assembler_.staged_bytes(), 100);
    }
    EXPECT_EQ(*Add(upload, order.back()), Letters(100));
    EXPECT_EQ(assembler_.staged_bytes(), 0);
    EXPECT_EQ(assembler_.uploads(), 0);
  }
}

TEST_F(ChunkAssemblerTest, AWholeTakesRoomUntilItIsServed) {
  Upload upload(Letters(600), 300);
  ASSERT_TRUE(Add(upload, 0).ok());
  const auto whole = assembler_.Add(upload[1], upload.owner(), kStart);
  ASSERT_TRUE(whole.ok() && whole->has_value());
  EXPECT_EQ((*whole)->bytes, 600);
  EXPECT_EQ(assembler_.staged_bytes(), 600);
  Upload other(Letters(500), 300, 2);
  EXPECT_EQ(Code(other, 0), absl::StatusCode::kResourceExhausted);
  assembler_.Release((*whole)->bytes);
  EXPECT_EQ(assembler_.staged_bytes(), 0);
  EXPECT_TRUE(Add(other, 0).ok());
}

TEST_F(ChunkAssemblerTest, HalfASetIsDroppedAtItsDeadline) {
  Upload upload(Letters(100), 50);
  ASSERT_TRUE(Add(upload, 0).ok());
  EXPECT_EQ(assembler_.NextExpiry(), kStart + absl::Seconds(30));
  const std::weak_ptr<const std::string> memory = upload.owner();
  EXPECT_EQ(assembler_.Expire(kStart + absl::Seconds(29)), 0);
  EXPECT_EQ(assembler_.Expire(kStart + absl::Seconds(30)), 1);
  EXPECT_EQ(assembler_.staged_bytes(), 0);
  EXPECT_EQ(assembler_.NextExpiry(), absl::InfiniteFuture());
  // The second half begins anew, and never makes a whole.
  EXPECT_EQ(*Add(upload, 1, absl::Seconds(31)), "");
}

TEST_F(ChunkAssemblerTest, AWrongDigestOrSizeIsDataLoss) {
  Upload damaged(Letters(100), 50);
  damaged[0].crc32c ^= 1;
  damaged[1].crc32c ^= 1;
  ASSERT_TRUE(Add(damaged, 0).ok());
  EXPECT_EQ(Code(damaged, 1), absl::StatusCode::kDataLoss);
  EXPECT_EQ(assembler_.uploads(), 0);

  Upload shorter(Letters(100), 50, 2);
  shorter[1].data = {shorter[1].data[0].substr(1)};
  ASSERT_TRUE(Add(shorter, 0).ok());
  EXPECT_EQ(Code(shorter, 1), absl::StatusCode::kDataLoss);

  Upload longer(Letters(100), 30, 3);
  longer[1].data = {longer[0].data[0], longer[1].data[0], longer[2].data[0]};
  ASSERT_TRUE(Add(longer, 0).ok());
  EXPECT_EQ(Code(longer, 1), absl::StatusCode::kDataLoss)
      << "too much is known before the last chunk is there";
  EXPECT_EQ(assembler_.staged_bytes(), 0);
}

TEST_F(ChunkAssemblerTest, ImpossibleNumbersAreRefused) {
  for (const auto& change : std::vector<void (*)(PushChunk*)>{
           [](PushChunk* c) { c->count = 0; },
           [](PushChunk* c) { c->index = c->count; },
           [](PushChunk* c) { c->count = 65537, c->total_bytes = 100'000; },
           [](PushChunk* c) { c->count = 101; },
           [](PushChunk* c) { c->total_bytes = 49; },
           [](PushChunk* c) { c->data.clear(); }}) {
    Upload upload(Letters(100), 50);
    change(&upload[0]);
    EXPECT_EQ(Code(upload, 0), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(assembler_.uploads(), 0);

  Upload upload(Letters(100), 50);
  ASSERT_TRUE(Add(upload, 0).ok());
  upload[1].total_bytes = 99;
  EXPECT_EQ(Code(upload, 1), absl::StatusCode::kInvalidArgument)
      << "other numbers than the first chunk's";
  EXPECT_EQ(assembler_.uploads(), 0);
}

TEST_F(ChunkAssemblerTest, RoomIsCountedWholeFromTheFirstChunkOn) {
  Upload a(Letters(600), 300, 1, {1, 1});
  Upload b(Letters(500), 250, 1, {1, 2});
  Upload c(Letters(400), 200, 1, {1, 3});
  ASSERT_TRUE(Add(a, 0).ok());
  EXPECT_EQ(Code(b, 0), absl::StatusCode::kResourceExhausted);
  ASSERT_TRUE(Add(c, 0).ok());
  EXPECT_EQ(assembler_.staged_bytes(), 1000);
  EXPECT_EQ(*Add(a, 1), Letters(600));
  EXPECT_TRUE(Add(b, 0).ok());

  Upload huge(Letters(1001), 501, 1, {1, 9});
  EXPECT_EQ(Code(huge, 0), absl::StatusCode::kResourceExhausted);
  Upload wrapping(Letters(10), 5, 1, {1, 9});
  wrapping[0].total_bytes = ~uint64_t{0};
  EXPECT_EQ(Code(wrapping, 0), absl::StatusCode::kResourceExhausted);

  Upload d(Letters(2), 1, 1, {1, 4});
  Upload e(Letters(2), 1, 1, {1, 5});
  ASSERT_TRUE(Add(d, 0).ok());
  EXPECT_EQ(Code(e, 0), absl::StatusCode::kResourceExhausted) << "too many";
  // An upload's deadline makes room.
  EXPECT_TRUE(Add(e, 0, absl::Seconds(30)).ok());
}

TEST_F(ChunkAssemblerTest, ANewerUploadOfTheBatchEndsTheOlder) {
  Upload older(Letters(100), 50, 1);
  Upload newer(Letters(100), 50, 2);
  ASSERT_TRUE(Add(older, 0).ok());
  ASSERT_TRUE(Add(newer, 0).ok());
  EXPECT_EQ(assembler_.staged_bytes(), 100);
  EXPECT_EQ(Code(older, 1), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(*Add(newer, 1), Letters(100));
}

TEST_F(ChunkAssemblerTest, WorkersSendTheSameBatchApart) {
  Upload one(Letters(100), 50, 1, {1, 1});
  Upload two(Letters(80), 40, 1, {1, 2});
  ASSERT_TRUE(Add(one, 0).ok());
  ASSERT_TRUE(Add(two, 1).ok());
  EXPECT_EQ(*Add(two, 0), Letters(80));
  EXPECT_EQ(*Add(one, 1), Letters(100));
}

}  // namespace
}  // namespace shoal
