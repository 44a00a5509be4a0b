#include "rpc/ring/ring_frame.h"

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rpc/ring/little_endian.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kChunk = 4096;

CollectiveOperation Operation() {
  CollectiveOperation operation;
  operation.kind = CollectiveKind::kBroadcast;
  operation.type = ElementType::kByte;
  operation.generation = 1;
  operation.step = 3;
  operation.index = 2;
  operation.root = 1;
  operation.length = 5;
  operation.name = "ids";
  return operation;
}

absl::string_view HeadOf(const std::string& frame) {
  return absl::string_view(frame).substr(0, RingFrameHeader::kBytes);
}
absl::string_view BodyOf(const std::string& frame) {
  return absl::string_view(frame).substr(RingFrameHeader::kBytes);
}

// The example of docs/wire_protocol.md.
TEST(RingFrameTest, AnnouncementByteByByte) {
  EXPECT_EQ(absl::BytesToHexString(EncodeAnnouncement(7, 2, Operation())),
            "010000002f000000070000000000000002000000000000005d5a15164beb45a3"
            "0100000000000000030000000000000005000000000000000200000001000000"
            "03020300696473");
}

TEST(RingFrameTest, AnnouncementsComeBack) {
  const std::string frame = EncodeAnnouncement(7, 2, Operation());
  const auto header = DecodeHeader(HeadOf(frame), kChunk);
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(header->kind, RingFrameKind::kAnnouncement);
  EXPECT_EQ(header->number, 7u);
  EXPECT_EQ(header->position, 2u);
  EXPECT_EQ(header->length, BodyOf(frame).size());
  const auto operation = DecodeAnnouncement(BodyOf(frame));
  ASSERT_TRUE(operation.ok()) << operation.status();
  EXPECT_EQ(operation->ToString(), Operation().ToString());
  EXPECT_EQ(operation->Digest(), Operation().Digest());
}

// Each byte of the body is in the digest, or is checked itself.
TEST(RingFrameTest, AChangedAnnouncementIsRefused) {
  const std::string body(BodyOf(EncodeAnnouncement(7, 2, Operation())));
  for (size_t i = 0; i < body.size(); ++i) {
    std::string other = body;
    other[i] = static_cast<char>(other[i] ^ 0x40);
    EXPECT_TRUE(absl::IsDataLoss(DecodeAnnouncement(other).status())) << i;
  }
  for (size_t length = 0; length < body.size(); ++length) {
    EXPECT_FALSE(DecodeAnnouncement(body.substr(0, length)).ok()) << length;
  }
  EXPECT_FALSE(DecodeAnnouncement(body + "x").ok());
}

TEST(RingFrameTest, HeadersOfOtherKindsAndLengthsAreRefused) {
  struct Case {
    uint32_t kind;
    uint32_t length;
    bool good;
  };
  for (const Case& c : std::vector<Case>{{1, 43, false},
                                         {1, 44, true},
                                         {1, 172, true},
                                         {1, 173, false},
                                         {2, 0, false},
                                         {2, 1, true},
                                         {2, kChunk, true},
                                         {2, kChunk + 1, false},
                                         {2, 0xffffffff, false},
                                         {3, 0, true},
                                         {3, 1024, true},
                                         {3, 1025, false},
                                         {0, 44, false},
                                         {4, 44, false},
                                         {0x0101, 44, false},
                                         {0xffffffff, 0, false}}) {
    std::string bytes;
    AppendNumber(c.kind, &bytes);
    AppendNumber(c.length, &bytes);
    AppendNumber(uint64_t{0}, &bytes);
    AppendNumber(uint64_t{0}, &bytes);
    const auto header = DecodeHeader(bytes, kChunk);
    EXPECT_EQ(header.ok(), c.good) << c.kind << ", " << c.length;
    if (!c.good) {
      EXPECT_TRUE(absl::IsDataLoss(header.status()));
    }
  }
}

TEST(RingFrameTest, AFailureHasALimit) {
  const std::string frame = EncodeFailure(3, std::string(5000, 'x'));
  EXPECT_EQ(frame.size(), RingFrameHeader::kBytes + kRingFailureMax);
  EXPECT_TRUE(DecodeHeader(HeadOf(frame), kChunk).ok());
  EXPECT_EQ(PrintableText("a\n\x1b[2Jb\xff"), "a??[2Jb?");
}

}  // namespace
}  // namespace shoal
