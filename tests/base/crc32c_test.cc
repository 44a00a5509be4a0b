#include "base/crc32c.h"

#include <string>

#include "gtest/gtest.h"

namespace shoal {
namespace {

TEST(Crc32c, KnownVectors) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c("a"), 0xc1d04330u);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  // RFC 3720, B.4.
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string ascending, descending;
  for (char i = 0; i < 32; ++i) {
    ascending.push_back(i);
    descending.push_back(static_cast<char>(31 - i));
  }
  EXPECT_EQ(Crc32c(ascending), 0x46dd794eu);
  EXPECT_EQ(Crc32c(descending), 0x113fdb5cu);
}

TEST(Crc32c, ExtendsAtEverySplit) {
  std::string bytes;
  for (int i = 0; i < 67; ++i) bytes.push_back(static_cast<char>(i * 37));
  const uint32_t whole = Crc32c(bytes);
  for (size_t at = 0; at <= bytes.size(); ++at) {
    EXPECT_EQ(Crc32cExtend(Crc32c(bytes.substr(0, at)), bytes.substr(at)),
              whole)
        << "split at " << at;
  }
}

// Long ones are summed in several streams.
TEST(Crc32c, LongTextsAreSummedAsByteAfterByte) {
  std::string bytes;
  uint32_t expected = 0;
  for (uint32_t i = 0; i < 20'000; ++i) {
    bytes.push_back(static_cast<char>(i * 2654435761u >> 24));
    expected = Crc32cExtend(expected, bytes.substr(i));
    if (i % 509 == 0) {
      ASSERT_EQ(Crc32c(bytes), expected) << i;
      const size_t at = bytes.size() / 9;
      ASSERT_EQ(Crc32cExtend(Crc32c(bytes.substr(0, at)), bytes.substr(at)),
                expected)
          << i;
    }
  }
  EXPECT_EQ(Crc32c(bytes), expected);
}

TEST(Crc32c, AnyFlippedBitChangesIt) {
  std::string bytes(40, 'x');
  const uint32_t whole = Crc32c(bytes);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
    EXPECT_NE(Crc32c(bytes), whole) << "bit " << bit;
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
  }
}

TEST(Crc32c, MaskIsThatOfTfRecord) {
  EXPECT_EQ(MaskedCrc32c(0), 0xa282ead8u);
  EXPECT_EQ(MaskedCrc32c(Crc32c("123456789")), 0xc78ab0e5u);
}

}  // namespace
}  // namespace shoal
