#include "worker/data/decompressed_bytes.h"

#include <atomic>
#include <string>
#include <vector>

#include "base/philox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/data/encoded_data.h"
#include "worker/data/data_format.h"

namespace shoal {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

std::string SomeText(size_t size) {
  const Philox random(3);
  std::string text;
  while (text.size() < size) {
    text += std::to_string(random(0, text.size())[0]) + " 1:1\n";
  }
  text.resize(size);
  return text;
}

absl::StatusOr<std::string> ReadAll(const std::string& compressed,
                                    Compression compression,
                                    size_t step = 10000) {
  const MemoryFile file(compressed);
  const auto source = OpenBytes(&file, compression, nullptr).value();
  std::string all;
  std::vector<char> some(step);
  for (;;) {
    const auto got = source->Read(all.size(), absl::MakeSpan(some));
    if (!got.ok()) return got.status();
    all.append(some.data(), *got);
    if (*got < step) return all;
  }
}

class DecompressedBytesTest : public ::testing::TestWithParam<Compression> {
 protected:
  std::string Compress(const std::string& text) const {
    return GetParam() == Compression::kGzip ? Gzip(text) : Zstd(text);
  }
  absl::StatusOr<std::string> Read(const std::string& compressed,
                                   size_t step = 10000) const {
    return ReadAll(compressed, GetParam(), step);
  }
};

TEST_P(DecompressedBytesTest, GivesWhatWasCompressed) {
  for (const size_t size : {0, 1, 9999, 10000, 10001, 400000}) {
    const std::string text = SomeText(size);
    for (const size_t step : {7, 10000, 1 << 20}) {
      EXPECT_EQ(Read(Compress(text), step).value(), text) << size;
    }
  }
}

TEST_P(DecompressedBytesTest, MembersFollowOneAnother) {
  const std::string text = SomeText(300000);
  std::string compressed;
  for (size_t at = 0; at < text.size(); at += 7001) {
    compressed += Compress(text.substr(at, 7001)) + Compress("");
  }
  EXPECT_EQ(Read(compressed).value(), text);
}

TEST_P(DecompressedBytesTest, EveryCutIsAnErrorEvenBetweenRecords) {
  const std::string text = SomeText(2000);
  const std::string member = Compress(text);
  const std::string compressed = member + member;
  for (size_t size = 1; size < compressed.size(); ++size) {
    const auto read = Read(compressed.substr(0, size));
    if (size == member.size()) {
      EXPECT_EQ(read.value(), text) << "a whole file of one member";
      continue;
    }
    ASSERT_EQ(read.status().code(), absl::StatusCode::kDataLoss) << size;
    EXPECT_THAT(std::string(read.status().message()),
                HasSubstr("within a member: it is truncated"));
  }
}

TEST_P(DecompressedBytesTest, BytesBehindTheLastMemberAreAnError) {
  const std::string compressed = Compress(SomeText(100));
  for (const std::string& garbage :
       {std::string("x"), std::string("\0", 1), std::string(512, '\0'),
        std::string("trailing words")}) {
    const auto read = Read(compressed + garbage);
    ASSERT_EQ(read.status().code(), absl::StatusCode::kDataLoss)
        << garbage.size();
    EXPECT_THAT(std::string(read.status().message()),
                AnyOf(HasSubstr("the bytes after a member at byte"),
                      HasSubstr("within a member")));
  }
}

TEST_P(DecompressedBytesTest, EveryFlippedBitIsSeenOrChangesNothing) {
  const std::string text = SomeText(300);
  const std::string compressed = Compress(text);
  int seen = 0;
  for (size_t byte = 0; byte < compressed.size(); ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = compressed;
      damaged[byte] = static_cast<char>(damaged[byte] ^ 1 << bit);
      const auto read = Read(damaged);
      if (read.ok()) {
        // Header fields that no reader needs: a time, a system.
        ASSERT_EQ(*read, text) << byte;
      } else {
        ++seen;
        ASSERT_EQ(read.status().code(), absl::StatusCode::kDataLoss);
      }
    }
  }
  EXPECT_GT(seen, static_cast<int>(compressed.size()) * 6);
}

TEST_P(DecompressedBytesTest, GoesBackAndForth) {
  const std::string text = SomeText(500000);
  const MemoryFile file(Compress(text));
  const auto source = OpenBytes(&file, GetParam(), nullptr).value();
  char some[100];
  for (const size_t at : {400000, 3, 3, 250000, 0, 499950, 499999}) {
    const size_t got = source->Read(at, absl::MakeSpan(some)).value();
    EXPECT_EQ(std::string(some, got), text.substr(at, 100)) << at;
  }
  EXPECT_EQ(source->Read(500000, absl::MakeSpan(some)).value(), 0u);
  EXPECT_EQ(source->Read(700000, absl::MakeSpan(some)).value(), 0u);
}

TEST_P(DecompressedBytesTest, CancelEndsIt) {
  const MemoryFile file(Compress(SomeText(100)));
  const std::atomic<bool> cancelled = true;
  const auto source = OpenBytes(&file, GetParam(), &cancelled).value();
  char some[100];
  EXPECT_EQ(source->Read(0, absl::MakeSpan(some)).status().code(),
            absl::StatusCode::kCancelled);
}

INSTANTIATE_TEST_SUITE_P(Compressions, DecompressedBytesTest,
                         ::testing::Values(Compression::kGzip,
                                           Compression::kZstd),
                         [](const ::testing::TestParamInfo<Compression>& info) {
                           return info.param == Compression::kGzip ? "Gzip"
                                                                   : "Zstd";
                         });

TEST(ZstdTest, FramesToSkipAreSkipped) {
  const std::string skip("\x53\x2a\x4d\x18\x04\0\0\0skip", 12);
  EXPECT_EQ(
      ReadAll(skip + Zstd("a") + skip + Zstd("b"), Compression::kZstd).value(),
      "ab");
}

TEST(ZstdTest, AWindowBeyondTheLimitIsRefusedAndNotTaken) {
  // A frame's head that asks for 2^31 bytes.
  const std::string frame("\x28\xb5\x2f\xfd\x00\xa8\x01\0\0", 9);
  const auto read = ReadAll(frame, Compression::kZstd);
  EXPECT_EQ(read.status().code(), absl::StatusCode::kDataLoss) << read.status();
}

}  // namespace
}  // namespace shoal
